// A field in the place of a message, to put it into other words.
import { _, el } from "./core.js";

/**
 * Opens a field to rewrite a message; returns the new text and whether it shall only be saved, or null if it was
 * left. A question can be asked anew.
 * @returns {Promise<{ text: string, only: boolean } | null>}
 */
export function openEditor(entry, element) {
  return new Promise((resolve) => {
    const isQuestion = entry.role === "user";
    const body = element.querySelector(".said"), row = element.querySelector(".foot");
    const field = el("textarea", {
      rows: isQuestion ? "3" : "12",
      dir: "auto",
      "aria-label": isQuestion ? _("Your question in other words") : _("The answer in your words"),
      value: entry.text ?? entry.content,
    });
    const closeEditor = (only) => {
      const text = field.value;
      if (only !== null && !text.trim()) return;
      form.replaceWith(body);
      row.hidden = false;
      element.focus({ preventScroll: true });
      resolve(only === null ? null : { text, only });
    };
    const form = el(
      "form",
      {
        class: "editor",
        onsubmit: (event) => {
          event.preventDefault();
          closeEditor(!isQuestion);
        },
      },
      field,
      el(
        "div",
        { class: "buttons" },
        el("button", { type: "button", onclick: () => closeEditor(null) }, _("Cancel")),
        isQuestion &&
          el(
            "button",
            {
              type: "button",
              title: _("Changes the question and asks nothing; the answers stay"),
              onclick: () => closeEditor(true),
            },
            _("Save only"),
          ),
        el("button", { class: "main" }, isQuestion ? _("Ask anew") : _("Save")),
      ),
    );
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") closeEditor(null);
      // In an answer Enter makes a new line: there are many in it.
      if (event.key === "Enter" && isQuestion && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        form.requestSubmit();
      }
    });
    body.replaceWith(form);
    row.hidden = true;
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  });
}
