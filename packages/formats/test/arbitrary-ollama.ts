import fc from "fast-check";
import type { OllamaMessage } from "../src/ollama.ts";
import { base64, id, json, record, some, text } from "./arbitrary-values.ts";

const name = fc.constantFrom("find", "weather");
const input = fc.dictionary(fc.constantFrom("a", "b"), json, { maxKeys: 2, noNullPrototype: true });
const images = fc.oneof(some(base64), some(fc.uint8Array({ maxLength: 6 })));
const call = record({ function: record({ name, arguments: input }) }, { id });

export const ollamaMessage: fc.Arbitrary<OllamaMessage> = fc.oneof(
  { weight: 1, arbitrary: record({ role: fc.constant("system"), content: text }) },
  { weight: 4, arbitrary: record({ role: fc.constant("user"), content: text }, { images }) },
  {
    weight: 5,
    arbitrary: record(
      { role: fc.constant("assistant"), content: text },
      { thinking: text, tool_calls: some(call) },
    ),
  },
  {
    weight: 4,
    arbitrary: fc.oneof(
      record({ role: fc.constant("tool"), content: text, tool_name: name }, { images }),
      record({ role: fc.constant("tool"), content: text, tool_call_id: id }, { tool_name: name }),
    ),
  },
) as object as fc.Arbitrary<OllamaMessage>;
