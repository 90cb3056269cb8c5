// What a person writes with OpenAI's library for JavaScript; tells what it saw as one line of JSON.
import OpenAI from "openai";

const { url, model, headers, tools, picture } = JSON.parse(process.argv[2]);
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0, defaultHeaders: headers });
const seen = {};

const asked = async (messages) => {
  const stream = client.chat.completions.stream({
    model, messages, tools, parallel_tool_calls: true, stream_options: { include_usage: true },
  });
  const whole = await stream.finalChatCompletion();
  seen.usage = whole.usage;
  return whole.choices[0].message;
};

const history = [{
  role: "user",
  content: [
    { type: "text", text: "Look into a and b." },
    { type: "image_url", image_url: { url: `data:image/png;base64,${picture}` } },
  ],
}];
const first = await asked(history);
history.push(first);
for (const call of first.tool_calls) {
  const { path } = JSON.parse(call.function.arguments);
  history.push({ role: "tool", tool_call_id: call.id, content: `${path} is empty` });
}
history.push(await asked(history));
history.push({ role: "user", content: "Thanks!" });
const last = await client.chat.completions.create({ model, messages: history, tools });

const made = await client.responses.create({ model, input: "I am Ada." });
let more = "";
const events = await client.responses.create({
  model, input: "Who am I?", previous_response_id: made.id, stream: true,
});
for await (const event of events) {
  if (event.type === "response.output_text.delta") more += event.delta;
  seen.end = event.type;
}

seen.calls = first.tool_calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]);
seen.answers = [history[4].content, last.choices[0].message.content, made.output_text, more];
seen.models = (await client.models.list()).data.map((one) => one.id);
seen.vectors = (await client.embeddings.create({ model, input: ["one", "two"] })).data.map(
  (row) => row.embedding.length,
);
try {
  await client.models.retrieve("nobody");
} catch (error) {
  seen.missing = [error.status, error.code];
}
console.log(JSON.stringify(seen));
