import { system, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";

const effort = {
  role: "system" as const,
  content: "",
  providerOptions: { openai: { reasoningEffortUpdate: "high" } },
};

describeRule("system-first", [
  {
    breaks: "a system message behind others",
    messages: [user("a"), system("Be brief.")],
    index: 1,
    refusedBy: ["gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), user("System note: Be brief.")],
  },
  {
    breaks: "a second system message, and one that only sets something",
    messages: [effort, system("Be brief."), system("Be polite."), user("a"), effort],
    index: 1,
    refusedBy: ["gemini", "bedrock", "mistral", "strict"],
    becomes: [system("Be brief."), user("System note: Be polite."), user("a")],
  },
]);
