import { assistant, user } from "@turnkeep/core";
import { describeRule } from "./describe-rule.ts";
import { begun } from "./samples.ts";

describeRule("empty-text", [
  {
    breaks: "an empty text beside another",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "" },
          { type: "text", text: "a" },
        ],
      },
    ],
    index: 0,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [{ role: "user", content: [{ type: "text", text: "a" }] }],
  },
  {
    breaks: "an empty text that brings a thought signature of Gemini's",
    messages: [
      user("a"),
      assistant([
        { type: "text", text: "b" },
        { type: "text", text: "", providerOptions: { google: { thoughtSignature: "s" } } },
      ]),
      user("c"),
    ],
    index: 1,
    refusedBy: ["anthropic", "bedrock", "mistral", "strict"],
    becomes: [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  },
  {
    breaks: "an empty message of the user",
    messages: [user("")],
    index: 0,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("(An empty message.)")],
  },
  {
    breaks: "a message of the user without a part",
    messages: [{ role: "user", content: [] }],
    index: 0,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("(An empty message.)")],
  },
  {
    breaks: "an empty message of the model",
    messages: [user("a"), assistant(""), user("b")],
    index: 1,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), user("b")],
  },
  {
    breaks: "a text of blanks",
    messages: [user(" \n")],
    index: 0,
    refusedBy: ["anthropic", "gemini", "bedrock", "strict"],
    becomes: [user("(An empty message.)")],
  },
  {
    breaks: "an answer of which the AI SDK kept but that it began",
    messages: [user("a"), assistant([begun]), user("b")],
    index: 1,
    refusedBy: ["anthropic", "gemini", "bedrock", "mistral", "strict"],
    becomes: [user("a"), user("b")],
  },
]);
