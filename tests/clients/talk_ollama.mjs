// What a person writes with the library that Ollama gives to JavaScript; tells what it saw as one line of JSON.
import { Ollama } from "ollama";

const { url, model, headers, tools, picture } = JSON.parse(process.argv[2]);
const client = new Ollama({ host: url, headers });
const seen = {};

const asked = async (request) => {
  const message = { role: "assistant", content: "", thinking: "", tool_calls: [] };
  for await (const piece of await client.chat({ model, stream: true, ...request })) {
    message.content += piece.message.content;
    message.thinking += piece.message.thinking ?? "";
    message.tool_calls.push(...(piece.message.tool_calls ?? []));
    seen.done = piece.done;
  }
  return message;
};

const history = [{ role: "user", content: "Look into a and b.", images: [picture] }];
const first = await asked({ messages: history, tools, think: true });
history.push(first);
for (const { function: called } of first.tool_calls) {
  history.push({ role: "tool", tool_name: called.name, content: `${called.arguments.path} is empty` });
}
history.push(await asked({ messages: history, tools }));
history.push({ role: "user", content: "Thanks!" });
const last = await client.chat({ model, messages: history });

const made = await client.generate({ model, prompt: "I am Ada." });
const more = await client.generate({ model, prompt: "Who am I?", context: made.context });

seen.thinking = first.thinking;
seen.calls = first.tool_calls.map(({ function: called }) => [called.name, called.arguments]);
seen.answers = [history[4].content, last.message.content, made.response, more.response];
seen.models = (await client.list()).models.map((one) => one.name);
seen.running = (await client.ps()).models.map((one) => one.name);
seen.capabilities = (await client.show({ model })).capabilities;
seen.vectors = (await client.embed({ model, input: ["one", "two"] })).embeddings.length;
try {
  await client.chat({ model: "nobody", messages: [] });
} catch (error) {
  seen.missing = [error.status_code, error.message];
}
console.log(JSON.stringify(seen));
