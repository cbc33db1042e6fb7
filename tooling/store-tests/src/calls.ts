import { inspect } from "node:util";
import type { CallOptions, ChatMemoryStore } from "@turnkeep/core";
import { message, update } from "./updates.ts";

/** A call of each method of a store but `close`, and two of the one that begins memories and changes them. */
export function callsOf(store: ChatMemoryStore, options: CallOptions = {}): (() => Promise<unknown>)[] {
  const append = [message(1)];
  return [
    () => store.getMessages("a", options),
    () => store.updateMessages("a", update(null, 2, { append }), options),
    () => store.updateMessages("a", update("v", 2, { append }), options),
    () => store.deleteMessages("a", options),
    () => store.getHistory("a", {}, options),
    () => store.listMemories({}, options),
    () => store.sweep(options),
  ];
}

/** What a call fails with. */
export async function failure(call: () => Promise<unknown>): Promise<unknown> {
  return call().then(
    () => {
      throw new Error("The call succeeded");
    },
    (error: unknown) => error,
  );
}

/** All that an error says, its members and its causes included, however deep. */
export function said(error: unknown): string {
  return inspect(error, {
    depth: Number.POSITIVE_INFINITY,
    showHidden: true,
    maxArrayLength: Number.POSITIVE_INFINITY,
    maxStringLength: Number.POSITIVE_INFINITY,
  });
}
