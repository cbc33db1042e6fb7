import { readFileSync } from "node:fs";
import {
  type MessageFormat,
  type ModelMessageLike,
  modelMessageFormat,
  system,
  type TokenCounter,
} from "@turnkeep/core";
import { type ChatMessage, openaiFormat } from "@turnkeep/formats/openai";
import { conversation } from "../corpus.ts";
import { noise } from "../measure.ts";
import { Segments } from "./prompt.ts";

/** A conversation with its times, and what its messages are in prompts. */
export interface Dialogue<M> {
  readonly format: MessageFormat<M>;
  readonly segments: Segments<M>;
  readonly messages: readonly M[];
  /** For each message, when it is there, in seconds. */
  readonly times: readonly number[];
}

/** How fast things go; all but the user's pauses are fixed. */
const tokensPerSecond = 60;
const beforeFirstToken = 1;
const toolSeconds = 2;

/**
 * The user's pause before a message, in seconds: log-normal around 45 seconds (σ 1.2), and one in 12 a break, log-normal
 * around three hours (σ 1.5). 13.5 % are longer than five minutes, 6.4 % longer than an hour. Assumed, not measured.
 */
export function* pauses(seed: number): Generator<number, never> {
  const numbers = noise(seed);
  const uniform = (): number => (numbers.next().value + 0.5) / 65_536;
  const normal = (): number => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  for (;;) {
    const isBreak = uniform() < 1 / 12;
    yield isBreak ? 10_800 * Math.exp(1.5 * normal()) : 45 * Math.exp(1.2 * normal());
  }
}

/** Puts times to messages: the user pauses, the model writes, tools run. */
export function timed<M>(
  format: MessageFormat<M>,
  messages: readonly M[],
  counter: TokenCounter,
  seed: number,
): Dialogue<M> {
  const segments = new Segments(format, counter);
  const waits = pauses(seed);
  let now = 0;
  const times = messages.map((message) => {
    const role = format.role(message);
    if (role === "user") now += waits.next().value;
    if (role === "tool") now += toolSeconds;
    if (role === "assistant") now += beforeFirstToken + segments.of(message).tokens / tokensPerSecond;
    return now;
  });
  return { format, segments, messages, times };
}

/** Conversations made here; `systemTokens`: with a system message of about so many tokens. */
export function generated(
  count: number,
  length: number,
  counter: TokenCounter,
  systemTokens?: number,
): Dialogue<ModelMessageLike>[] {
  return Array.from({ length: count }, (_, index) => {
    const messages: ModelMessageLike[] = conversation(length, index + 1);
    // Two words of one token each, and a frame of four.
    if (systemTokens !== undefined) messages[0] = system("be brief ".repeat((systemTokens - 4) / 2).trim());
    return timed(modelMessageFormat, messages, counter, index + 1);
  });
}

/** Conversations of a file, one `{ "messages": [] }` a line, in the format of OpenAI's Chat Completions. */
export function read(file: string, counter: TokenCounter): Dialogue<ChatMessage>[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines
    .filter((line) => line.trim() !== "")
    .map((line, index) => {
      const { messages } = JSON.parse(line) as { messages?: readonly ChatMessage[] };
      if (!Array.isArray(messages)) throw new Error(`${file}, line ${index + 1}: no { "messages": [] }`);
      return timed(openaiFormat, messages, counter, index + 1);
    });
}
