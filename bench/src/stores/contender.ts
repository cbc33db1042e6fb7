import type { ModelMessage, TokenCounter } from "@turnkeep/core";
import type { Written } from "./count-written.ts";

/** What a read shows: the newest 20 messages, or the newest that have 4,000 tokens together. */
export type Window = { readonly messages: 20 } | { readonly tokens: 4_000 };

/** Each is measured. */
export const windows: readonly [Window, Window] = [{ messages: 20 }, { tokens: 4_000 }];

export function showWindow(window: Window): string {
  return "messages" in window
    ? `the last ${window.messages}`
    : `${window.tokens.toLocaleString("en-US")} tokens`;
}

/**
 * One way to keep conversations in a database: ours, a floor of bare inserts and reads, what we promise written by hand on the
 * bare driver, or a peer.
 */
export interface Contender {
  /** The package, `floor`, or `the same by hand`. */
  readonly name: string;
  readonly kind: "ours" | "floor" | "hand" | "peer";
  /**
   * Writes a conversation as fast as it can, before anything is measured. Called for each window; where what is stored
   * does not depend on the window, the second call has nothing to do.
   */
  fill(conversation: string, messages: readonly ModelMessage[], window: Window): Promise<void>;
  /** A conversation as a process holds it; the first `read` is the first in that process. */
  open(conversation: string, window: Window): Conversation;
  /** Of ours: the store without a memory over it, over the same client. */
  readonly store?: Contender;
  close(): Promise<void>;
}

export interface Conversation {
  /** One more message, on disk when this resolves. Answers whether others left memory with it; only ours know that. */
  append(message: ModelMessage): Promise<boolean>;
  /** What is to be sent to the model. */
  read(): Promise<readonly unknown[]>;
  /** For a floor: the least work that tells that nothing has changed since the last read, one version cell. Default: `read`. */
  readUnchanged?(): Promise<unknown>;
}

/** How clients reach a database: a delay is what is added to each round trip. */
export type Way = "direct" | "counted" | "unsynced" | { readonly delayMs: number };

/** What is added to a round trip, in turn: the next rack, the next zone, the next country. */
export const delaysMs: readonly number[] = [0.5, 1, 20];

export function delayOf(way: Way): number {
  return typeof way === "object" ? way.delayMs : 0;
}

/** Starts a database; the counter is o200k's. */
export type StartArena = (counter: TokenCounter) => Promise<Arena>;

/** A database with a server of its own that writes to disk before it answers. */
export interface Arena {
  readonly name: string;
  /** The versions of what is measured beside ours, by package. */
  readonly versions: Readonly<Record<string, string>>;
  /**
   * New clients of the same data each time: straight to the server, by way of what counts `traffic`, `unsynced` (see there), or,
   * where `traffic` is counted, by way of one that delays.
   */
  enter(way: Way): Promise<readonly Contender[]>;
  /** Whether clients may ask not to wait for the disk, so that what the rest takes is seen. */
  readonly unsynced?: boolean;
  /** Called once conversations were written, so that what a database does about them later falls into no measurement. */
  settle?(): Promise<void>;
  /** Where filling a database with more, or measuring as long as usual, would take too long. */
  readonly bounds?: { readonly largest: number; readonly budgetMs: number };
  /** The capacity units that whatever is sent meanwhile consumes, where a database bills by them. Slow: not for what is timed. */
  unitsOf?(run: () => Promise<unknown>): Promise<Units>;
  /** The bytes that whatever is sent meanwhile leaves in the database, where it tells. For one client at a time. */
  written?(run: () => Promise<unknown>): Promise<Written>;
  /**
   * What has gone over the network since the last question, both ways, where there is one; for counting, with one client at
   * a time.
   */
  traffic?(): Traffic;
  stop(): Promise<void>;
}

export interface Traffic {
  readonly roundTrips: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/** Capacity units of DynamoDB: writes of 1 KB, strongly consistent reads of 4 KB. */
export interface Units {
  readonly read: number;
  readonly write: number;
}

/** Uses clients of an arena, and closes them. */
export async function inside<T>(
  arena: Arena,
  way: Way,
  use: (contenders: readonly Contender[]) => Promise<T>,
): Promise<T> {
  const contenders = await arena.enter(way);
  try {
    return await use(contenders);
  } finally {
    for (const contender of contenders) await contender.close();
  }
}
