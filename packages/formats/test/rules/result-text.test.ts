import { type ModelMessage, toolResult, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";
import { call } from "./samples.ts";

const of = (result: ModelMessage): ModelMessage[] => [user("a"), call, result];
const text = (said: string): ModelMessage[] => of(toolResult("toolu_1", "search", said));
const failed = (said: string): ModelMessage[] => of(toolResult("toolu_1", "search", said, { isError: true }));

const parts = (...said: string[]): ModelMessage[] =>
  of({
    role: "tool",
    content: [
      {
        type: "tool-result",
        toolCallId: "toolu_1",
        toolName: "search",
        output: { type: "content", value: said.map((text) => ({ type: "text", text })) },
      },
    ],
  });

describeRule("result-text", [
  {
    breaks: "a blank text among the parts of a result",
    messages: parts("found", ""),
    index: 2,
    refusedBy: ["anthropic", "bedrock", "strict"],
    becomes: parts("found", "The tool said nothing."),
  },

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
