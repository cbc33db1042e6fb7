import type { HistoryPage, MemorySnapshot, StoredMessage, TurnkeepErrorCode } from "@turnkeep/core";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { brief, cut, difference } from "./brief.ts";
import { sentences } from "./sentences.ts";

/**
 * What a case throws if a store does not keep the contract. The message says what was tested, what was expected and
 * what was seen, without long payloads.
 *
 * @example
 * ```ts
 * import { ConformanceError } from "@turnkeep/conformance";
 *
 * throw new ConformanceError("the version after an update: expected \"v2\", saw \"v1\"");
 * ```
 */
export class ConformanceError extends Error {
  override readonly name: string = "ConformanceError";
  /** The sentence of the contract that was broken, where it may be another one than the case names. */
  readonly sentence: string | undefined;
  /** The options that repeat exactly this failure, where the seed alone does not. */
  readonly repeat: RepeatOptions | undefined;

  constructor(
    message: string,
    options?: {
      readonly cause?: unknown;
      readonly sentence?: string | undefined;
      readonly repeat?: RepeatOptions | undefined;
    },
  ) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.sentence = options?.sentence;
    this.repeat = options?.repeat;
  }
}

/** What repeats a failure: options of `runConformance`, `describeConformance` and the command alike. */
export interface RepeatOptions {
  readonly names: readonly string[];
  readonly seed: number;
  readonly path?: string | undefined;
}

/** Fails with `what` and what was seen unless `holds`. */
export function expectThat(what: string, holds: boolean, seen: unknown): asserts holds {
  if (!holds) throw new ConformanceError(`${what}: saw ${brief(seen)}`);
}

/** Compares plain data; a member that is `undefined` counts as absent, `null` does not. */
export function expectEqual(what: string, seen: unknown, expected: unknown): void {
  const found = difference(seen, expected);
  if (found !== undefined) throw new ConformanceError(`${what}: ${found}`);
}

/** Waits for a call that must fail with a code. Returns the error. */
export async function expectCode(
  what: string,
  code: TurnkeepErrorCode,
  call: () => Promise<unknown>,
): Promise<Error> {
  let answer: unknown;
  try {
    answer = await call();
  } catch (error) {
    if (isTurnkeepError(error, code)) return error;
    throw new ConformanceError(`${what}: expected the error ${code}, saw ${describeError(error)}`, {
      cause: error,
    });
  }
  throw new ConformanceError(
    `${what}: expected the error ${code}, but the call succeeded with ${brief(answer)}`,
  );
}

const calls = new WeakMap<object, string>();

/** Notes which call failed: the call was expected to succeed, so nothing else would say it. */
export async function named<T>(call: string, running: Promise<T>): Promise<T> {
  try {
    return await running;
  } catch (error) {
    if (typeof error === "object" && error !== null) calls.set(error, call);
    throw error;
  }
}

/** What was seen: a case says it itself, unless a call failed that had to succeed. */
export function tell(error: unknown): string {
  if (error instanceof ConformanceError) return error.message;
  const call = typeof error === "object" && error !== null ? calls.get(error) : undefined;
  return `${call ?? "a call that must succeed"}: expected an answer, saw ${describeError(error)}`;
}

const sentencesOf = new WeakMap<object, string>();

/** Does something; what it throws breaks this sentence, whatever a closer look within has named. */
export async function about<T>(sentence: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw noted(sentence, error);
  }
}

/** The sentence that an error was noted to break. */
export function brokenSentence(error: unknown): string | undefined {
  return typeof error === "object" && error !== null ? sentencesOf.get(error) : undefined;
}

function noted(sentence: string, error: unknown): unknown {
  if (typeof error === "object" && error !== null) sentencesOf.set(error, sentence);
  return error;
}

/** Compares the result of `getMessages` with the expected one. */
export function expectSnapshot(what: string, seen: MemorySnapshot, expected: MemorySnapshot): void {
  const part = (sentence: string, name: keyof MemorySnapshot) =>
    noting(sentence, () => expectEqual(`${what}, ${name}`, seen[name], expected[name]));
  part(sentences.version, "version");
  noting(sentences.live, () => expectMessages(what, seen.messages, expected.messages));
  part(sentences.position, "nextSeq");
  part(sentences.owner, "owner");
  part(sentences.head, "head");
  part(sentences.data, "data");
  part(sentences.known, "unchanged");
}

function noting(sentence: string, compare: () => void): void {
  try {
    compare();
  } catch (error) {
    throw noted(sentence, error);
  }
}

/**
 * Compares what `getMessages` answered to who knows a version. Only at that version may it leave the messages out, and
 * then it says so.
 */
export function expectRead(
  what: string,
  seen: MemorySnapshot,
  expected: MemorySnapshot,
  known: string,
): void {
  if (seen.unchanged !== undefined) {
    expectEqual(`${what}, unchanged`, seen.unchanged, true);
    expectEqual(`${what}, the version that it says is unchanged`, expected.version, known);
  }
  const messages = seen.unchanged ? [] : expected.messages;
  expectSnapshot(what, seen, { ...expected, messages, unchanged: seen.unchanged });
}

/** Compares the result of `getHistory` with the expected one. */
export function expectPage(what: string, seen: HistoryPage, expected: HistoryPage): void {
  noting(sentences.keeps, () => expectMessages(what, seen.messages, expected.messages));
  expectEqual(`${what}, hasMore`, seen.hasMore, expected.hasMore);
}

/** Compares lists of messages: which are there, in which order, then each member. */
export function expectMessages(
  what: string,
  seen: readonly StoredMessage[],
  expected: readonly StoredMessage[],
): void {
  if (!Array.isArray(seen)) {
    throw new ConformanceError(`${what}, messages: expected an array, saw ${brief(seen)}`);
  }
  const seqs = (list: readonly StoredMessage[]) => list.map((message) => message?.seq);
  expectEqual(`${what}, seqs of the messages`, seqs(seen), seqs(expected));
  for (const [index, message] of expected.entries()) {
    const other = seen[index];
    for (const member of ["id", "createdAt", "payload", "meta", "state"] as const) {
      const wanted: unknown = (message as { state?: unknown } & StoredMessage)[member];
      if (member === "state" && wanted === undefined) continue;
      const had: unknown = (other as { state?: unknown } & StoredMessage)[member];
      expectEqual(`${what}, ${member} of the message with seq ${message.seq}`, had, wanted);
    }
  }
}

/** Answers whether a call succeeded. Fails if it ended with another error than this code, which may be none. */
export function expectSettled(
  what: string,
  result: PromiseSettledResult<unknown>,
  code?: TurnkeepErrorCode,
): boolean {
  if (result.status === "fulfilled") return true;
  if (code !== undefined && isTurnkeepError(result.reason, code)) return false;
  const wanted = code === undefined ? "success" : `success or ${code}`;
  throw new ConformanceError(`${what}: expected ${wanted}, saw ${describeError(result.reason)}`, {
    cause: result.reason,
  });
}

/** An error in one line: its code, if it has one, its message, and what caused it. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error) && !isTurnkeepError(error)) return brief(error);
  const name = isTurnkeepError(error) ? error.code : error.name;
  const { cause } = error;
  const caused = cause instanceof Error ? `, caused by ${cause.name} (${cut(cause.message, 120)})` : "";
  return `${name} (${cut(error.message, 160)})${caused}`;
}

/** Fails if an error contains a secret. Its cause is not checked: it is the driver's, and may quote what was sent. */
export function expectSecret(what: string, error: Error, secret: string): void {
  const members = Object.getOwnPropertyNames(error).filter((name) => name !== "cause" && name !== "stack");
  const telling = members.filter((name) =>
    JSON.stringify((error as unknown as Record<string, unknown>)[name])?.includes(secret),
  );
  expectEqual(`the members of ${what} that hold a message's content`, telling, []);
}
