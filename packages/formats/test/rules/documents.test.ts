import { describeRule } from "./describe-rule.ts";
import { document } from "./samples.ts";

describeRule("documents", [
  {
    breaks: "six documents in a message",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          ...Array.from({ length: 6 }, () => document.content[0] as never),
        ],
      },
    ],
    index: 0,
    refusedBy: ["bedrock", "strict"],
    exceeds: 6,
  },
]);
