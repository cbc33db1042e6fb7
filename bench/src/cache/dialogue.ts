import type { MessageFormat } from "@turnkeep/core";
import { noise } from "../measure.ts";
import { type Segment, Segments, tokensOf } from "./prompt.ts";

/** A conversation with its times. */
export interface Dialogue<M> {
  readonly name: string;
  readonly format: MessageFormat<M>;
  readonly messages: readonly M[];
  /** For each message, when it is there, in seconds. */
  readonly times: readonly number[];
}

/** How fast things go; all but the user's pauses are fixed. */
const tokensPerSecond = 60;
const beforeFirstToken = 1;
const toolSeconds = 2;

/**
 * The user's pause before a message, in seconds: log-normal around 45 seconds (σ 1.2: one in 17 above five minutes), and
 * one in 12 a break, log-normal around three hours (σ 1.5). Assumed, not measured: no provider publishes such times. With
 * both, one pause in 7 outlives a cache of five minutes, and one in 16 a cache of an hour.
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
  name: string,
  format: MessageFormat<M>,
  messages: readonly M[],
  segments: Segments<M>,
  seed: number,
): Dialogue<M> {
  const waits = pauses(seed);
  let now = 0;
  const times = messages.map((message) => {
    const role = format.role(message);
    if (role === "user") now += waits.next().value;
    if (role === "tool") now += toolSeconds;
    if (role === "assistant") now += beforeFirstToken + segments.of(message).tokens / tokensPerSecond;
    return now;
  });
  return { name, format, messages, times };
}
