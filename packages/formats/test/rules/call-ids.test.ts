import { assistant, toolCall, toolResult, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";

describeRule("call-ids", [
  {
    breaks: "an id of 65 characters",
    messages: [user("a"), toolCall("x".repeat(65), "t", {}), toolResult("x".repeat(65), "t", "ok")],
    index: 1,
    refusedBy: ["openai", "openai-responses", "anthropic", "bedrock", "mistral", "strict"],
    becomes: [user("a"), toolCall("b0bgbi8qf", "t", {}), toolResult("b0bgbi8qf", "t", "ok")],
  },
  {
    breaks: "an id of 41 characters",
    messages: [user("a"), toolCall("x".repeat(41), "t", {}), toolResult("x".repeat(41), "t", "ok")],
    index: 1,
    refusedBy: ["openai", "mistral", "strict"],
    becomes: [user("a"), toolCall("qzqxwa253", "t", {}), toolResult("qzqxwa253", "t", "ok")],
  },
  {
    breaks: "an id with a colon",
    messages: [user("a"), toolCall("search:0", "t", {}), toolResult("search:0", "t", "ok")],
    index: 1,
    refusedBy: ["anthropic", "bedrock", "mistral", "strict"],
    becomes: [user("a"), toolCall("yc4vcn3o3", "t", {}), toolResult("yc4vcn3o3", "t", "ok")],
  },
  {
    breaks: "an id of which a small number is made",
    messages: [user("a"), toolCall("search:58", "t", {}), toolResult("search:58", "t", "ok")],
    index: 1,
    refusedBy: ["anthropic", "bedrock", "mistral", "strict"],
    becomes: [user("a"), toolCall("0cf3foyfc", "t", {}), toolResult("0cf3foyfc", "t", "ok")],
  },
  {
    breaks: "an id that is used again",
    messages: [
      user("a"),
      toolCall("abcDEF123", "t", {}),
      toolResult("abcDEF123", "t", "ok"),
      toolCall("abcDEF123", "t", {}),
      toolResult("abcDEF123", "t", "ok"),
    ],
    index: 3,
    refusedBy: ["openai", "openai-responses", "bedrock", "mistral", "strict"],
    becomes: [
      user("a"),
      toolCall("abcDEF123", "t", {}),
      toolResult("abcDEF123", "t", "ok"),
      toolCall("uqxt6gx29", "t", {}),
      toolResult("uqxt6gx29", "t", "ok"),
    ],
  },
  {
    breaks: "an id that two calls of one answer share",
    messages: [
      user("a"),
      assistant([...toolCall("abcDEF123", "t", {}).content, ...toolCall("abcDEF123", "u", {}).content]),
      toolResult("abcDEF123", "t", "1"),
      toolResult("abcDEF123", "u", "2"),
    ],
    index: 1,
    refusedBy: ["openai", "openai-responses", "anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [
      user("a"),
      assistant([...toolCall("abcDEF123", "t", {}).content, ...toolCall("uqxt6gx29", "u", {}).content]),
      toolResult("abcDEF123", "t", "1"),
      toolResult("uqxt6gx29", "u", "2"),
    ],
  },
  {
    breaks: "an id with a colon beside the one that would be made of it",
    messages: [
      user("a"),
      toolCall("search:0", "t", {}),
      toolResult("search:0", "t", "ok"),
      toolCall("yc4vcn3o3", "t", {}),
      toolResult("yc4vcn3o3", "t", "ok"),
    ],
    index: 1,
    refusedBy: ["anthropic", "bedrock", "mistral", "strict"],
    becomes: [
      user("a"),
      toolCall("g11tgqw1s", "t", {}),
      toolResult("g11tgqw1s", "t", "ok"),
      toolCall("yc4vcn3o3", "t", {}),
      toolResult("yc4vcn3o3", "t", "ok"),
    ],
  },
]);
