import type { ChatMemoryStore } from "@turnkeep/core";
import { invalidOption } from "@turnkeep/core/store-kit";
import { openPlace, placeName, placeOf } from "../places/place.ts";
import { listMemories } from "./list-memories.ts";
import { showMemory } from "./show-memory.ts";

/** What to look at, and how to show it. */
export interface InspectOptions {
  /** A folder of PGlite's, a file of SQLite's (`.db`), a JavaScript file that exports a store, or an address. */
  readonly store: string | undefined;
  /** `undefined`: the memories are listed. */
  readonly memoryId: string | undefined;
  readonly owner: string | undefined;
  /** How many memories or messages are shown at most; `undefined`: all. */
  readonly limit: number | undefined;
  /** One JSON value a line, for programs. */
  readonly json: boolean;
  readonly colour: boolean;
  /** How wide lines may be. */
  readonly columns: number;
  readonly write: (text: string) => void;
  /** Takes what is no answer: that there is no such memory. */
  readonly warn: (text: string) => void;
}

/** What is looked at, open. */
export interface Inspected extends InspectOptions {
  readonly store: string;
  readonly opened: ChatMemoryStore;
  /** The store's place, as people are told of it. */
  readonly name: string;
}

/**
 * Shows which memories a store has, or what one of them holds. Writes nothing to the store. Answers whether it was there.
 *
 * Errors: `INVALID_OPTION` for a store that cannot be opened; what the store throws.
 */
export async function inspect(options: InspectOptions): Promise<boolean> {
  const { memoryId, owner } = options;
  if (options.store === undefined)
    throw invalidOption("inspect needs --store: a folder, a file that exports a store, or an address.");
  if (memoryId !== undefined && owner !== undefined)
    throw invalidOption(
      "--owner chooses from the list of memories: leave out the memory's id, or the owner.",
    );
  const store = placeOf(options.store);
  const place = await openPlace(store, "read");
  try {
    const inspected: Inspected = { ...options, store, opened: place.store, name: placeName(store) };
    if (memoryId !== undefined) return await showMemory(inspected, memoryId);
    await listMemories(inspected);
    return true;
  } finally {
    await place.close();
  }
}
