// Run inside a page by `accessible.py`: gives every fault as a sentence with the element it was found at.
() => {
  const found = [];
  const tell = (rule, element) => found.push(`${rule}: ${element.outerHTML.slice(0, 140)}`);
  const shown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const words = (ids) => (ids ?? "").split(/\s+/).filter(Boolean).map((id) => document.getElementById(id)?.textContent ?? "").join(" ").trim();
  const name = (element) => element.getAttribute("aria-label")?.trim() || words(element.getAttribute("aria-labelledby"))
    || [...(element.labels ?? [])].map((label) => label.textContent).join(" ").trim() || element.textContent.trim()
    || element.querySelector("img[alt]:not([alt=''])")?.alt || element.getAttribute("title")?.trim() || "";

  const ids = new Map();
  for (const element of document.querySelectorAll("[id]")) ids.set(element.id, (ids.get(element.id) ?? 0) + 1);
  for (const [id, times] of ids) if (times > 1) found.push(`id used ${times} times: ${id}`);
  if (!document.documentElement.lang) found.push("the page has no language");
  if (!document.title) found.push("the page has no title");
  if (document.querySelectorAll("main").length !== 1) found.push("there is not one main part");

  for (const element of document.querySelectorAll("button, a[href], [role=button], [role=tab], summary")) if (shown(element) && !name(element)) tell("no name", element);
  for (const element of document.querySelectorAll("input:not([type=hidden]), select, textarea, progress, meter")) {
    if (!shown(element)) continue;
    const own = element.getAttribute("aria-label") || words(element.getAttribute("aria-labelledby")) || [...(element.labels ?? [])].map((label) => label.textContent).join(" ").trim();
    if (!own) tell("no label", element);
  }
  for (const element of document.querySelectorAll("img:not([alt]), svg:not([aria-hidden]):not([role]):not([aria-label])")) if (!element.closest("[aria-hidden=true]")) tell("no text instead", element);
  for (const element of document.querySelectorAll("[tabindex]")) if (element.tabIndex > 0) tell("changes the order of focus", element);
  for (const attribute of ["aria-controls", "aria-labelledby", "aria-describedby", "for"]) {
    for (const element of document.querySelectorAll(`[${attribute}]`)) {
      for (const id of element.getAttribute(attribute).split(/\s+/)) if (!document.getElementById(id)) tell(`${attribute} leads nowhere (${id})`, element);
    }
  }
  for (const element of document.querySelectorAll("[aria-hidden=true]")) if (element.matches("a, button, input, select, textarea") || element.querySelector("a, button, input, select, textarea")) tell("hidden but reachable", element);
  for (const element of document.querySelectorAll("button button, a a, a button, button a")) tell("inside another control", element);

  let last = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (!shown(heading)) continue;
    const level = Number(heading.tagName[1]);
    if (level > last + 1) tell(`a heading of level ${level} after one of level ${last}`, heading);
    last = level;
  }

  const rgb = (text) => { const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number); return { r, g, b, a }; };
  const over = (top, under) => ({ r: top.r * top.a + under.r * (1 - top.a), g: top.g * top.a + under.g * (1 - top.a), b: top.b * top.a + under.b * (1 - top.a), a: 1 });
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== "none") return null;
      const colour = rgb(style.backgroundColor);
      if (colour.a > 0) layers.push(colour);
      if (colour.a === 1) break;
    }
    return layers.reverse().reduce((under, top) => over(top, under), { r: 255, g: 255, b: 255, a: 1 });
  };
  const light = ({ r, g, b }) => [r, g, b].map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const looked = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || looked.has(element) || !shown(element)) continue;
    looked.add(element);
    if (element.closest("script, style, template, option, :disabled, [aria-disabled=true], .hidden-label, .skip")) continue;
    const style = getComputedStyle(element), back = behind(element);
    if (!back || !style.color.startsWith("rgb") || element.getBoundingClientRect().width < 2) continue;
    const [one, other] = [light(over(rgb(style.color), back)), light(back)].sort((a, b) => b - a);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    const contrast = (one + 0.05) / (other + 0.05);
    if (contrast < (large ? 3 : 4.5)) tell(`contrast ${contrast.toFixed(2)}`, element);
  }
  const width = document.documentElement.scrollWidth;
  if (width > innerWidth + 1) {
    const scrolls = (element) => element && (getComputedStyle(element).overflowX !== "visible" || scrolls(element.parentElement));
    const wide = [...document.body.querySelectorAll("*")].filter((element) => shown(element) && element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element.parentElement));
    found.push(`wider than the window (${width} > ${innerWidth}): ${wide.slice(-1).map((element) => element.outerHTML.slice(0, 140)).join()}`);
  }
  return [...new Set(found)];
}
