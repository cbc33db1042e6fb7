import { user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";

describeRule("text-length", [
  {
    breaks: "a text of 10,485,761 characters",
    messages: [user("a".repeat(10_485_761))],
    index: 0,
    refusedBy: ["openai", "strict"],
    exceeds: 10_485_761,
  },
]);
