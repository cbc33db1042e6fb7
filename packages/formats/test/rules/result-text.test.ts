import { toolResult, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";
import { call } from "./samples.ts";

describeRule("error-text", [
  {
    breaks: "a tool that failed and said nothing",
    messages: [user("a"), call, toolResult("toolu_1", "search", "", { isError: true })],
    index: 2,
    refusedBy: ["anthropic", "strict"],
    becomes: [
      user("a"),
      call,
      toolResult("toolu_1", "search", "The tool failed and said nothing.", { isError: true }),
    ],
  },
]);
