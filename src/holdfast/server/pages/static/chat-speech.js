// Dictation and reading aloud by what the browser itself can do; where it cannot, nothing is offered.
import { _, toast } from "./core.js";

/** Whether this browser can speak. */
export const canSpeak = () => "speechSynthesis" in globalThis && speechSynthesis.getVoices().length > 0;

/** Reads a text aloud; what is being read stops. */
export function speak(text) {
  const wasSpeaking = speechSynthesis.speaking;
  speechSynthesis.cancel();
  if (wasSpeaking) return;
  const utterance = new SpeechSynthesisUtterance(stripMarkdown(text));
  utterance.lang = document.documentElement.lang;
  speechSynthesis.speak(utterance);
}

/** A text without the signs that nobody would read aloud. */
function stripMarkdown(text) {
  return text.replace(/```[\s\S]*?(```|$)/g, " ").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*_#`>|]/g, "");
}

let running = null;

/** Begins to take down what is said, or ends it; `write(text)` takes it. */
export function toggleDictation(button, write) {
  if (running) return running.stop();
  const setRunning = (recogniser) => {
    running = recogniser;
    button.setAttribute("aria-pressed", String(Boolean(recogniser)));
  };
  const Recogniser = globalThis["SpeechRecognition"] ?? globalThis["webkitSpeechRecognition"];
  const recogniser = new Recogniser();
  recogniser.lang = document.documentElement.lang === "de" ? "de-DE" : "en-US";
  recogniser.continuous = true;
  recogniser.addEventListener("result", (event) => {
    for (const result of [...event.results].slice(event.resultIndex)) {
      if (result.isFinal) write(result[0].transcript.trim());
    }
  });
  recogniser.addEventListener("error", (event) => {
    if (event.error !== "no-speech" && event.error !== "aborted") {
      toast(_("Dictation did not work: the browser has no microphone or no service for it."), "error");
    }
  });
  recogniser.addEventListener("end", () => setRunning(null));
  recogniser.start();
  setRunning(recogniser);
}
