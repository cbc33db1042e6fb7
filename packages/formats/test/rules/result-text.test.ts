import { type ModelMessage, toolResult, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";
import { call } from "./samples.ts";

const of = (result: ModelMessage): ModelMessage[] => [user("a"), call, result];
const text = (said: string): ModelMessage[] => of(toolResult("toolu_1", "search", said));
const failed = (said: string): ModelMessage[] => of(toolResult("toolu_1", "search", said, { isError: true }));

describeRule("result-text", [
  {
    breaks: "a tool that failed and said nothing",
    messages: failed(""),
    index: 2,
    refusedBy: ["anthropic", "bedrock", "strict"],
    becomes: failed("The tool failed and said nothing."),
  },
  ...["", " \n"].map((said) => ({
    breaks: `a tool that said ${JSON.stringify(said)}`,
    messages: text(said),
    index: 2,
    refusedBy: ["bedrock", "strict"],
    becomes: text("The tool said nothing."),
  })),
]);
