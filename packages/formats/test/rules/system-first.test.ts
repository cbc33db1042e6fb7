import { system, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";

describeRule("system-first", [
  {
    breaks: "a system message behind others",
    messages: [user("a"), system("Be brief.")],
    index: 1,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [system("Be brief."), user("a")],
  },
]);
