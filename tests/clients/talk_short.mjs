// Two questions with each library, streamed; tells both histories as one line of JSON.
import { Ollama } from "ollama";
import OpenAI from "openai";

const { url, model, headers } = JSON.parse(process.argv[2]);
const questions = ["Name a colour.", "Name another one."];

const ollama = new Ollama({ host: url, headers });
const first = [];
for (const content of questions) {
  first.push({ role: "user", content: `${content} (Ollama)` });
  let said = "";
  const options = { num_predict: 5, temperature: 0 };
  for await (const piece of await ollama.chat({ model, messages: first, stream: true, options })) {
    said += piece.message.content;
  }
  first.push({ role: "assistant", content: said });
}

const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0, defaultHeaders: headers });
const second = [];
for (const content of questions) {
  second.push({ role: "user", content: `${content} (OpenAI)` });
  let said = "";
  const asked = { model, messages: second, stream: true, max_tokens: 5, temperature: 0 };
  for await (const piece of await openai.chat.completions.create(asked)) {
    said += piece.choices[0]?.delta.content ?? "";
  }
  second.push({ role: "assistant", content: said });
}
console.log(JSON.stringify([first, second]));
