import { user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";
import { callsOf, resultsOf } from "./samples.ts";

describeRule("calls", [
  {
    breaks: "129 calls in a message",
    messages: [user("a"), callsOf(129), resultsOf(129)],
    index: 1,
    refusedBy: ["openai", "strict"],
    exceeds: 129,
  },
]);
