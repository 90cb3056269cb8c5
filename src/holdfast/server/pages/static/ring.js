// How full a window is as a small ring, and as a share in per cent.

const percent = new Intl.NumberFormat(document.documentElement.lang, { style: "percent" });
export const formatShare = (share) => percent.format(share);

/** How full a window is as a small ring; `draft` is the share that was not sent yet. */
export function renderRing(share, text, draft = 0) {
  const ring = createSvg("svg", { viewBox: "0 0 20 20", class: "ring", role: "img", "aria-label": text });
  const addArc = (kind, from, to) =>
    ring.append(
      createSvg("circle", {
        class: kind,
        cx: 10,
        cy: 10,
        r: 7.5,
        pathLength: 100,
        "stroke-dasharray": `${Math.max(0, 100 * (to - from))} 100`,
        "stroke-dashoffset": -100 * from,
        transform: "rotate(-90 10 10)",
      }),
    );
  const used = Math.min(1, share), all = Math.min(1, share + draft);
  addArc("rest", 0, 1);
  addArc(all >= 1 ? "used full" : "used", 0, used);
  if (all > used) addArc("draft", used, all);
  return ring;
}

function createSvg(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}
