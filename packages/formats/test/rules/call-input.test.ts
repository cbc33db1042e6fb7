import { assistant, type ModelMessage, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";
import { result } from "./samples.ts";

const call = (input: unknown): ModelMessage =>
  assistant([{ type: "tool-call", toolCallId: "toolu_1", toolName: "search", input }]);

describeRule(
  "call-input",
  ['{"to": 5', 7, null, ["a"]].map((input) => ({
    breaks: `a call with ${JSON.stringify(input)} as its input`,
    messages: [user("a"), call(input), result],
    index: 1,
    refusedBy: ["gemini", "strict"],
    becomes: [user("a"), call({ rawInvalidInput: input }), result],
  })),
);
