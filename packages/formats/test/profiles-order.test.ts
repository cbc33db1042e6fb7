import {
  assistant,
  createChatMemory,
  modelMessageFormat as format,
  type ModelMessage,
  system,
  toolCall,
  toolResult,
  user,
} from "@turnkeep/core";
import { expect, it } from "vitest";
import { type AnthropicMessage, anthropicFormat } from "../src/anthropic.ts";
import { anthropic, bedrock, gemini, mistral, type ProfileRules, strict, validate } from "../src/profiles.ts";
import { document, half, thought } from "./rules/samples.ts";

/** Under an id that Mistral takes. */
const call = toolCall("abcDEF123", "t", {});
const result = toolResult("abcDEF123", "t", "ok");
const goOn = user("Please continue.");
const madeImage = { type: "file" as const, data: "aGk=", mediaType: "image/png" };
const texts = (...parts: string[]): ModelMessage => ({
  role: "user",
  content: parts.map((text) => ({ type: "text", text })),
});

it.each<[string, ProfileRules, ModelMessage[], ModelMessage[]]>([
  [
    "a note of what the system says is the last message",
    anthropic,
    [user("a"), assistant("b"), system("s")],
    [user("a"), assistant("b"), user("System note: s")],
  ],
  [
    "system messages become notes before neighbours are joined",
    gemini,
    [user("a"), system("s"), user("b")],
    [texts("a", "System note: s", "b")],
  ],
  [
    "what goes goes before system messages find their place",
    anthropic,
    [user("a"), system("s"), assistant([thought]), user("b")],
    [user("a"), user("b"), system("s")],
  ],
  [
    "what a provider ran goes before reasoning is looked at that is left alone",
    anthropic,
    [user("a"), assistant([thought, half("1", "tool-call")]), user("b")],
    [user("a"), user("b")],
  ],
  [
    "files go before reasoning is looked at that is left alone",
    bedrock,
    [user("a"), assistant([thought, madeImage]), user("b")],
    [texts("a", "b")],
  ],
  [
    "empty texts go before reasoning is looked at that ends an answer",
    anthropic,
    [user("a"), assistant([{ type: "text", text: "b" }, thought, { type: "text", text: " " }]), user("c")],
    [user("a"), assistant([{ type: "text", text: "b" }]), user("c")],
  ],
  [
    "reasoning goes before files are looked at",
    strict,
    [user("a"), assistant([thought, madeImage]), user("b")],
    [texts("a", "b")],
  ],
  ["what is left out begins no view", anthropic, [assistant([thought]), user("a")], [user("a")]],
  ["what is left out ends no view", anthropic, [user("a"), assistant("")], [user("a")]],
  [
    "what is left out is no answer to results",
    mistral,
    [user("a"), call, result, assistant(""), user("b")],
    [user("a"), call, result, assistant("(No answer was given.)"), user("b")],
  ],
  [
    "a document gets its text before it is joined with another message",
    bedrock,
    [document, user("a")],
    [
      {
        role: "user",
        content: [
          ...(document.content as never[]),
          { type: "text", text: "(A file is attached.)" },
          { type: "text", text: "a" },
        ],
      },
    ],
  ],
  [
    "what asks the model to go on is joined with nothing that it goes on with",
    gemini,
    [user("a"), assistant("b"), assistant("c"), user("d")],
    [user("a"), assistant("b"), goOn, assistant("c"), user("d")],
  ],
  [
    "an opening is joined with what the user says behind it",
    gemini,
    [assistant([thought]), user("a")],
    [user("a")],
  ],
])("%s", (_, profile, messages, view) => {
  expect(profile.shape(messages, format).messages).toEqual(view);
});

it("results move in front once all that the user says and answers is one message", () => {
  const answer = (id: string) => ({ type: "tool_result" as const, tool_use_id: id, content: "ok" });
  const use = (id: string) => ({ type: "tool_use" as const, id, name: "t", input: {} });
  const said = { type: "text" as const, text: "b" };
  const asked: AnthropicMessage[] = [
    { role: "user", content: "a" },
    { role: "assistant", content: [use("1"), use("2")] },
  ];
  const messages: AnthropicMessage[] = [
    ...asked,
    { role: "user", content: [answer("1"), said] },
    { role: "user", content: [answer("2")] },
  ];
  expect(bedrock.shape(messages, anthropicFormat).messages).toEqual([
    ...asked,
    { role: "user", content: [answer("1"), answer("2"), said] },
  ]);
});

it("calls of one answer that share an id keep their results, whoever is to have other ids or joins messages", async () => {
  for (const profile of [anthropic, bedrock, strict]) {
    const memory = createChatMemory({ profile });
    await memory.add(user("a"), call, call, result, result, user("b"));
    expect(validate(await memory.messages(), profile, { format }), profile.name).toEqual([]);
  }
});
