import { toolResult, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";
import { callsOf, resultsOf } from "./samples.ts";

describeRule("same-role", [
  {
    breaks: "results in two messages",
    messages: [user("a"), callsOf(2), toolResult("call_0", "t", "ok"), toolResult("call_1", "t", "ok")],
    index: 3,
    refusedBy: ["anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("a"), callsOf(2), resultsOf(2)],
  },
  {
    breaks: "two messages of the user",
    messages: [user("a"), user("b")],
    index: 1,
    refusedBy: ["gemini", "bedrock", "strict"],
    becomes: [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
    ],
  },
]);
