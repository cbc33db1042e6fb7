import { expectThat } from "./expect.ts";

/**
 * More steps than any call of these cases takes, in a store that sends messages one by one or their texts in small
 * pieces: one that reaches it repeats itself.
 */
const mostSteps = 10_000;

/** The first steps each, and then some of them. */
function* steps(each: number): Generator<number, void> {
  for (let step = 1; step <= mostSteps; step = step < each ? step + 1 : Math.ceil(step * 1.5)) yield step;
}

/** Of an update of a few messages. */
export const fewSteps = (): Iterable<number> => steps(24);
/** Of what touches hundreds of messages. */
export const manySteps = (): Iterable<number> => steps(12);

/** Lets a call die at one step after another, until it has ended before. */
export async function untilItLives(
  what: string,
  dyingAt: Iterable<number>,
  endsBefore: (step: number) => Promise<boolean>,
): Promise<void> {
  for (const step of dyingAt) if (await endsBefore(step)) return;
  expectThat(`${what} takes fewer than ${mostSteps} writes`, false, mostSteps);
}
