import { toolResult, user } from "@turnkeep/core";
import { describeRule, everybody } from "./describe-rule.ts";
import { asked, call } from "./samples.ts";

const withRefusedCharacters = ["openai", "openai-responses", "anthropic", "bedrock", "mistral", "strict"];

describeRule("tool-names", [
  {
    breaks: "a tool's name with a dot",
    messages: asked("functions.weather"),
    index: 1,
    refusedBy: withRefusedCharacters,
    becomes: asked("functions_weather"),
  },
  {
    breaks: "a tool's name with a blank, an emoji and a half of one",
    messages: asked("weather 🌧\ud83c"),
    index: 1,
    refusedBy: [...everybody],
    becomes: asked("weather____"),
  },
  {
    breaks: "an empty name of a tool",
    messages: asked(""),
    index: 1,
    refusedBy: [...everybody],
    becomes: asked("_"),
  },
  {
    breaks: "a tool's name of 65 characters",
    messages: asked("x".repeat(65)),
    index: 1,
    refusedBy: ["openai", "bedrock", "mistral", "strict"],
    becomes: asked("x".repeat(64)),
  },
  {
    breaks: "a tool's name of 129 characters",
    messages: asked("x".repeat(129)),
    index: 1,
    refusedBy: [...everybody],
    becomes: asked("x".repeat(64)),
  },
  {
    breaks: "a tool's name of 64 characters that begins with a digit",
    messages: asked(`7${"x".repeat(63)}`),
    index: 1,
    refusedBy: ["gemini", "strict"],
    becomes: asked(`_7${"x".repeat(62)}`),
  },
  {
    breaks: "a tool's name that the result alone bears",
    messages: [user("a"), call, toolResult("toolu_1", "search!", "found")],
    index: 2,
    refusedBy: [...everybody],
    becomes: [user("a"), call, toolResult("toolu_1", "search_", "found")],
  },
]);
