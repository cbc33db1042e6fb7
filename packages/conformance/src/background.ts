import type { ConformanceCase } from "./case.ts";
import type { ConformanceResult } from "./report.ts";
import { describeError } from "./support/expect.ts";
import { turns } from "./support/races.ts";

/** What a store threw where nobody waited for it. */
export interface Raised {
  readonly how: "a rejection that nobody handles" | "an exception that nobody catches";
  readonly error: unknown;
}

type Watcher = (raised: Raised) => void;

const kinds = {
  unhandledRejection: "a rejection that nobody handles",
  uncaughtException: "an exception that nobody catches",
} as const;

type Listener = (...given: unknown[]) => void;

const watchers = new Set<Watcher>();
let giveBack = (): void => {};

/**
 * Does some work, and notes what is thrown in the background meanwhile: `raised` resolves at the first. The listeners of
 * the process stand aside until the work has ended, so that neither Node nor a test runner ends for it. A rejection
 * counts as soon as the promise is left without a handler for a turn of the event loop, as Node counts it.
 */
export async function watched<T>(
  work: (raised: Promise<void>) => Promise<T>,
): Promise<{ readonly answer: T; readonly raised: Raised | undefined }> {
  let first: Raised | undefined;
  let tell = () => {};
  const raised = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const watcher: Watcher = (seen) => {
    first ??= seen;
    tell();
  };
  watch(watcher);
  try {
    const answer = await work(raised);
    // Node tells of a rejection after the microtasks of a turn; a store without I/O needs no other turn than these.
    await turns(2);
    return { answer, raised: first };
  } finally {
    unwatch(watcher);
  }
}

function watch(watcher: Watcher): void {
  if (watchers.size === 0) giveBack = standIn();
  watchers.add(watcher);
}

function unwatch(watcher: Watcher): void {
  watchers.delete(watcher);
  if (watchers.size === 0) giveBack();
}

/** Takes the places of the process's listeners; returns what gives them back. */
function standIn(): () => void {
  if (typeof process === "undefined" || typeof process.rawListeners !== "function") return () => {};
  const back = Object.entries(kinds).map(([name, how]) => {
    const event = name as "unhandledRejection";
    const others = process.rawListeners(event) as Listener[];
    const own: Listener = (error) => {
      for (const watcher of watchers) watcher({ how, error });
    };
    for (const other of others) process.removeListener(event, other);
    process.on(event, own);
    return () => {
      process.removeListener(event, own);
      for (const other of others) process.on(event, other);
    };
  });
  return () => {
    for (const restore of back) restore();
  };
}

/** The result of a case while which something was thrown that no call has told. */
export function blamed(
  { name, group, sentence, provisional }: ConformanceCase,
  result: ConformanceResult | undefined,
  { how, error }: Raised,
): ConformanceResult {
  const message = `in the background, while the case ran: expected nothing, saw ${how}: ${describeError(error)}`;
  const more = result !== undefined && "message" in result ? `\n${result.message}` : "";
  const durationMs = result !== undefined && "durationMs" in result ? result.durationMs : 0;
  const status = provisional ? "warned" : "failed";
  return { name, group, sentence, status, durationMs, message: message + more, error };
}
