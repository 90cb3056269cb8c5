// Libraries of others that are loaded when a page has something for them: colours for code, formulas.
// They are served from here; which they are, with licence and checksum, is in vendor/manifest.json.
import { el } from "./core.js";

const addressOf = (path) => new URL(`./vendor/${path}`, import.meta.url).href;

// Languages beyond those that the highlighter brings, each a file of its own.
const others = {
  dockerfile: ["docker"],
  latex: ["tex"],
  nginx: ["nginxconf"],
  powershell: ["pwsh", "ps", "ps1"],
};

let highlighter = null, formulas = null;
/** The libraries once they are there: who renders the same again needs not wait. */
export const loaded = { highlighter: null, formulas: null };

/** Loads the highlighter, once. */
export function loadHighlighter() {
  highlighter ??= import(addressOf("highlight/highlight.min.js")).then(async ({ default: library }) => {
    for (const name of Object.keys(others)) {
      const { default: grammar } = await import(addressOf(`highlight/languages/${name}.min.js`));
      library.registerLanguage(name, grammar);
      library.registerAliases(others[name], { languageName: name });
    }
    loaded.highlighter = library;
    return library;
  });
  return highlighter;
}

/** Loads KaTeX with its stylesheet, once. */
export function loadFormulas() {
  formulas ??= new Promise((resolve, reject) => {
    document.head.append(
      el("link", { rel: "stylesheet", href: addressOf("katex/katex.min.css") }),
      el("script", {
        src: addressOf("katex/katex.min.js"),
        onload: () => resolve(loaded.formulas = globalThis["katex"]),
        onerror: reject,
      }),
    );
  });
  return formulas;
}
