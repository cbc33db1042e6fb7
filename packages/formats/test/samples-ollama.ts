import type { OllamaMessage } from "../src/ollama.ts";
import { png, type Samples } from "./sample-values.ts";

const call = { function: { name: "find", arguments: { a: 1 } } };
const answer = (tool_calls: OllamaMessage["tool_calls"]): OllamaMessage =>
  ({ role: "assistant", content: "", tool_calls }) as OllamaMessage;
const asked = answer([call]);

export const ollama: Samples<OllamaMessage> = {
  "system message": [{ role: "system", content: "Be brief." }],
  text: [{ role: "user", content: "Hello" }],
  "`images`": [{ role: "user", content: "Hello", images: [png] }],
  "`thinking`": [{ role: "assistant", content: "4", thinking: "2 + 2" }],
  "`tool_calls`": [asked],
  "`tool_calls` with ids": [answer([{ ...call, id: "call-1" }])],
  "`tool_name`": [asked, { role: "tool", content: "4", tool_name: "find" }],
  "`tool_call_id`": [
    answer([{ ...call, id: "call-1" }]),
    { role: "tool", content: "4", tool_call_id: "call-1" },
  ],
};
