import type { ModelMessage } from "@turnkeep/core";

/** What a read shows: the newest 20 messages, or the newest that have 4,000 tokens together. */
export type Window = { readonly messages: 20 } | { readonly tokens: 4_000 };

/** One way to keep conversations in a database: ours, a floor written by hand on the bare driver, or a peer. */
export interface Contender {
  /** The package, or `floor`. */
  readonly name: string;
  readonly kind: "ours" | "floor" | "peer";
  /** Writes a conversation as fast as it can, before anything is measured. */
  fill(conversation: string, messages: readonly ModelMessage[], window: Window): Promise<void>;
  /** A conversation as a process holds it; the first `read` is the first in that process. */
  open(conversation: string, window: Window): Conversation;
  close(): Promise<void>;
}

export interface Conversation {
  /** One more message, on disk when this resolves. */
  append(message: ModelMessage): Promise<void>;
  /** What is to be sent to the model. */
  read(): Promise<readonly unknown[]>;
}

/** A database with a server of its own that writes to disk before it answers. */
export interface Arena {
  readonly name: string;
  /** New clients of the same data each time. */
  enter(): Promise<readonly Contender[]>;
  /** What has gone over the network since the last question, both ways; for counting, with one client at a time. */
  traffic(): { readonly roundTrips: number; readonly bytesSent: number; readonly bytesReceived: number };
  stop(): Promise<void>;
}
