import { assistant, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";
import { thought } from "./samples.ts";

describeRule(
  "reasoning",
  [
    {
      breaks: "reasoning",
      messages: [user("a"), assistant([thought, { type: "text", text: "b" }]), user("c")],
      index: 1,
      refusedBy: ["openai", "strict"],
      becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
    },
  ],
  {
    // What binds reasoning to its beginning is no property of a list: profiles-reasoning.test.ts.
    untold: ["anthropic", "bedrock"],
  },
);
