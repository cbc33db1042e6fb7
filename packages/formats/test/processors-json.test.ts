import { type MessageFormat, type ModelMessage, toolCall, toolResult } from "@turnkeep/core";
import { applyProcessors, redact, truncateToolResults } from "@turnkeep/core/processors";
import { describe, expect, it } from "vitest";
import { bedrockFormat } from "../src/bedrock.ts";
import { convert, modelMessageConversion } from "../src/convert.ts";
import { geminiFormat } from "../src/gemini.ts";
import { langchain4jFormat } from "../src/langchain4j.ts";
import { openaiResponsesFormat } from "../src/openai-responses.ts";
import { type AnyConversion, conversionOf, names } from "./conversions.ts";
import { characters as counter } from "./profiles-conversations.ts";

const ownFormat = modelMessageConversion as AnyConversion;

describe("redact by a pattern that names a member", () => {
  const processors = [redact({ patterns: [/"password":"[^"]*"/] })];
  const login = { user: "ann", password: "hunter2" };
  const clean = { user: "ann", "[redacted]": "[redacted]" };
  const conversation: ModelMessage[] = [toolCall("1", "login", login), toolResult("1", "login", login)];

  it.each(names)("shows nothing of it, and JSON, in %s", async (name) => {
    const conversion = conversionOf(name);
    const { messages } = convert(conversation, { from: ownFormat, to: conversion });
    const shown = await applyProcessors(messages, processors, { format: conversion.format });
    expect(JSON.stringify(shown)).not.toContain("hunter2");
    const [call] = convert(shown, { from: conversion, to: ownFormat }).messages;
    expect(call).toMatchObject({ content: [{ input: clean }] });
  });

  const unknown: [string, unknown, object, object][] = [
    [
      "a part of Gemini's",
      geminiFormat,
      { role: "user", parts: [{ holder: login }] },
      { role: "user", parts: [{ holder: clean }] },
    ],
    [
      "a block of Bedrock's",
      bedrockFormat,
      { role: "user", content: [{ holder: login }] },
      { role: "user", content: [{ holder: clean }] },
    ],
    [
      "an item of Responses",
      openaiResponsesFormat,
      { type: "holder", ...login },
      { type: "holder", ...clean },
    ],
    [
      "a custom message of LangChain4j's",
      langchain4jFormat,
      { type: "CUSTOM", attributes: login },
      { type: "CUSTOM", attributes: clean },
    ],
  ];
  it.each(unknown)("shows nothing of it in %s of an unknown type", async (_, format, message, expected) => {
    const options = { format: format as MessageFormat<object> };
    expect(await applyProcessors([message], processors, options)).toEqual([expected]);
  });
});

describe("truncateToolResults of JSON with many short texts", () => {
  const rows = Array.from({ length: 500 }, (_, row) => ({ id: `${row}`, name: "ann" }));
  const conversation: ModelMessage[] = [toolCall("1", "query", {}), toolResult("1", "query", { rows })];

  it.each(names)("shows a text of no more than its tokens in %s", async (name) => {
    const conversion = conversionOf(name);
    const { format } = conversion;
    const { messages } = convert(conversation, { from: ownFormat, to: conversion });
    const processors = [truncateToolResults({ maxTokens: 200, counter })];
    const shown = await applyProcessors(messages, processors, { format });
    const results = shown
      .flatMap((message) => format.pieces(message))
      .flatMap((piece) => (piece.type === "text" && piece.of === "tool-result" ? [piece.text] : []));
    expect(results).toEqual([expect.stringMatching(/^\{"rows":.* characters left out …\]\n.*\]\}$/s)]);
    expect(results[0]?.length).toBeLessThanOrEqual(200);
    for (const message of shown) format.decode(format.encode(message));
  });
});
