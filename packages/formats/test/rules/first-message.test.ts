import { assistant, system, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";
import { call, result } from "./samples.ts";

describeRule("first-message", [
  {
    breaks: "the model's message first",
    messages: [system("Be brief."), assistant("Hello"), user("a")],
    index: 1,
    refusedBy: ["anthropic", "gemini", "bedrock", "strict"],
    becomes: [system("Be brief."), user("Here is our conversation so far."), assistant("Hello"), user("a")],
  },
  {
    breaks: "a call before everything else",
    messages: [call, result],
    index: 0,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("Here is our conversation so far."), call, result],
  },
  {
    breaks: "a call behind the system message",
    messages: [system("Be brief."), call, result],
    index: 1,
    refusedBy: ["anthropic", "gemini", "bedrock", "strict"],
    becomes: [system("Be brief."), user("Here is our conversation so far."), call, result],
  },
]);
