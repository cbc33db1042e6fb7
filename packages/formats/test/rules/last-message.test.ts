import { assistant, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";
import { half, searched } from "./samples.ts";

describeRule("last-message", [
  {
    breaks: "the model's answer last",
    messages: [user("a"), assistant("b")],
    index: 1,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), assistant("b"), user("Please continue.")],
  },
  {
    breaks: "the model's answer to what its provider found last",
    messages: [user("a"), searched],
    index: 1,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), searched, user("Please continue.")],
  },
  {
    breaks: "code that Gemini ran last",
    messages: [
      user("a"),
      assistant([half("1", "tool-call", "code_execution"), half("1", "tool-result", "code_execution")]),
    ],
    index: 1,
    refusedBy: ["gemini", "bedrock", "mistral", "strict"],
    becomes: [
      user("a"),
      assistant([half("1", "tool-call", "code_execution"), half("1", "tool-result", "code_execution")]),
      user("Please continue."),
    ],
  },
]);
