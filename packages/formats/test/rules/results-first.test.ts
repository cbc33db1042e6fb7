import { type AnthropicMessage, anthropicFormat } from "../../src/anthropic.ts";
import { describeRule } from "./describe-rule.ts";

const call = { type: "tool_use" as const, id: "abcDEF123", name: "t", input: {} };
const result = { type: "tool_result" as const, tool_use_id: "abcDEF123", content: "ok" };
const said = { type: "text" as const, text: "b" };
const asked: AnthropicMessage[] = [
  { role: "user", content: "a" },
  { role: "assistant", content: [call] },
];

// The default format has no message of both.
describeRule<AnthropicMessage>(
  "results-first",
  [
    {
      breaks: "what the user says before a result",
      messages: [...asked, { role: "user", content: [said, result] }],
      index: 2,
      refusedBy: ["anthropic", "bedrock", "strict"],
      becomes: [...asked, { role: "user", content: [result, said] }],
    },
  ],
  { format: anthropicFormat },
);
