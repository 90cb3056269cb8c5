// The last request of a window as the model server got it, and whether that is sure.
import { _, createCopyButton, el, formatNumber } from "./core.js";

// Longer than any word: pictures and files, of which nobody reads the letters.
const data = /^[A-Za-z0-9+/=_-]{400,}$|^data:[^,]{1,100},.{400,}$/;

export async function showRequest(panel, view) {
  const reply = await view.ask("request");
  const json = JSON.stringify(reply.body, null, 2);
  const brief = JSON.stringify(
    reply.body,
    (
      _name,
      value,
    ) => (typeof value === "string" && data.test(value)
      ? _("… {n} characters of data …", { n: formatNumber(value.length) })
      : value),
    2,
  );
  const count = reply.differs.length + reply.missing.length;
  const save = el(
    "button",
    { type: "button", class: "quiet", onclick: () => download(json) },
    _("Download"),
  );
  panel.replaceChildren(
    el(
      "p",
      { class: `verdict ${reply.exact ? "" : "not"}` },
      reply.exact
        ? _("Exactly what the model server got: messages and tools are the same, byte for byte.")
        : _("Not exactly what the model server got: {n} pieces have changed since or are not kept.", {
          n: formatNumber(count),
        }),
    ),
    el(
      "div",
      { class: "row" },
      el(
        "span",
        { class: "faint small grow" },
        _("Options such as temperature are not kept, so they are not shown."),
      ),
      createCopyButton(json),
      save,
    ),
    el("pre", { dir: "auto", tabindex: "0" }, brief),
  );
}

function download(text) {
  const link = el("a", {
    href: URL.createObjectURL(new Blob([text], { type: "application/json" })),
    download: "request.json",
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
