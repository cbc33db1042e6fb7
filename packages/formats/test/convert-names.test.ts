import { expect, it } from "vitest";
import { type AnthropicMessage, anthropicConversion } from "../src/anthropic.ts";
import { convert, modelMessageConversion } from "../src/convert.ts";

const use = (id: string, name: string) => ({ type: "tool_use", id, name, input: {} }) as const;
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "r" }) as const;

function namesOf(messages: readonly AnthropicMessage[]): string[] {
  return convert(messages, { from: anthropicConversion, to: modelMessageConversion }).messages.flatMap(
    ({ role, content }) =>
      role === "tool" ? content.flatMap((part) => ("toolName" in part ? part.toolName : [])) : [],
  );
}

it.each<[string, AnthropicMessage[], string[]]>([
  [
    "calls of one answer that share an id",
    [
      { role: "assistant", content: [use("1", "search"), use("1", "read")] },
      { role: "user", content: [result("1"), result("1")] },
    ],
    ["search", "read"],
  ],
  [
    "calls of two answers, of which the older is answered last",
    [
      { role: "assistant", content: [use("1", "search")] },
      { role: "user", content: "?" },
      { role: "assistant", content: [use("1", "read")] },
      { role: "user", content: [result("1"), result("1"), result("1")] },
    ],
    ["read", "search", "read"],
  ],
])("a result without a name has that of the call that it answers: %s", (_, messages, names) => {
  expect(namesOf(messages)).toEqual(names);
});
