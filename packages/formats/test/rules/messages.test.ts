import { user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";

describeRule(
  "messages",
  [
    {
      breaks: "2,049 messages",
      messages: Array.from({ length: 2049 }, () => user("a")),
      index: 2048,
      refusedBy: ["openai", "strict"],
      exceeds: 2049,
    },
  ],
  {
    // It takes 100,000.
    untold: ["anthropic"],
  },
);
