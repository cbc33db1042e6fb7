import type { MessageFormat, Piece } from "@turnkeep/core";
import { uiMessageConversion } from "../src/ai-sdk.ts";
import { anthropicConversion } from "../src/anthropic.ts";
import { bedrockConversion } from "../src/bedrock.ts";
import { type Conversion, modelMessageConversion } from "../src/convert.ts";
import { geminiConversion } from "../src/gemini.ts";
import { langchain4jConversion } from "../src/langchain4j.ts";
import { ollamaConversion } from "../src/ollama.ts";
import { openaiConversion } from "../src/openai.ts";
import { openaiResponsesConversion } from "../src/openai-responses.ts";

export type AnyConversion = Conversion<unknown>;

/** Every conversion, by the format's name in the documents. */
export const conversions: Readonly<Record<string, AnyConversion>> = {
  ModelMessage: modelMessageConversion as AnyConversion,
  UIMessage: uiMessageConversion() as AnyConversion,
  OpenAI: openaiConversion as AnyConversion,
  Responses: openaiResponsesConversion as AnyConversion,
  Anthropic: anthropicConversion as AnyConversion,
  Gemini: geminiConversion as AnyConversion,
  Bedrock: bedrockConversion as AnyConversion,
  Ollama: ollamaConversion as AnyConversion,
  LangChain4j: langchain4jConversion as AnyConversion,
};

export const names: readonly string[] = Object.keys(conversions);

export const pairs: readonly (readonly [from: string, to: string])[] = names.flatMap((from) =>
  names.filter((to) => to !== from).map((to) => [from, to] as const),
);

export function conversionOf(name: string): AnyConversion {
  return conversions[name] as AnyConversion;
}

/** What a model reads of a text, however it is written: JSON in one form. */
export function normal(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text)) ?? text;
  } catch {
    return text;
  }
}

/** What a conversation says, in order: texts and media by who says them, calls and results. */
export function said<M>(messages: readonly M[], format: MessageFormat<M>): unknown[] {
  return messages.flatMap((message) => {
    const role = format.role(message);
    return [
      ...format.pieces(message).map((piece) => [role, ...pieceOf(piece)]),
      ...format.toolCalls(message).map(({ id, name }) => ["call", id, name]),
      ...format.toolResults(message).map(({ id }) => ["result", id]),
    ];
  });
}

function pieceOf(piece: Piece): unknown[] {
  if (piece.type === "text") return [piece.of, normal(piece.text)];
  return [piece.of, piece.mediaType, piece.bytes, piece.data === undefined ? undefined : String(piece.data)];
}

/** What a conversation tells, in whatever format: what a model reads, by its place, and which calls it has. */
export function told<M>(messages: readonly M[], format: MessageFormat<M>): unknown {
  const pieces = messages.flatMap((message) => {
    const role = format.role(message);
    return format.pieces(message).flatMap((piece) => {
      if (piece.type === "media") return [`${piece.of} media`];
      if (piece.of === "name") return [];
      return [`${piece.of === "content" ? role : ""} ${piece.of} ${normal(piece.text)}`];
    });
  });
  const calls = messages
    .flatMap((message) => format.toolCalls(message))
    .map(({ id, name }) => ({ id, name }));
  const results = messages.flatMap((message) => format.toolResults(message)).map(({ id }) => id);
  return { pieces: pieces.sort(), calls, results };
}
