import type { ChatMemoryStore, MemoryUpdate } from "@turnkeep/core";
import { changed, gate, type Kept, liveOf, message, messages, update } from "@turnkeep/store-tests";
import { beforeAll, expect } from "vitest";
import { type DynamoClient, type DynamoStore, dynamoStore } from "../src/index.ts";
import {
  copyMemory,
  type Item,
  idsStored,
  isRead,
  itemsBeside,
  itemsIn,
  sized,
  useOwnTable,
  wrapped,
} from "./support.ts";

export const memoryId = "large";

export function to(
  state: "live" | "evicted" | "superseded" | "removed",
  ...seqs: readonly number[]
): MemoryUpdate["move"] {
  return seqs.map((seq) => ({ seq, to: state }));
}

/** Both ends included. */
export function span(first: number, last: number): number[] {
  return messages(first, last).map(({ seq }) => seq);
}

/** A hundred rows of one message each, two rows in parts, some rows of several messages, and a message in the head. */
const parts: Partial<MemoryUpdate>[] = [
  { append: span(1, 30).map((seq) => sized(seq, 400)), move: to("evicted", ...span(1, 30)) },
  { append: [sized(31, 40_000), sized(32, 40_000)], move: to("evicted", 32) },
  // Live messages share no row with others.
  ...span(0, 4).map((n) => {
    const seqs = span(33 + 20 * n, 52 + 20 * n);
    const append = seqs.map((seq) => sized(seq, 200));
    return { append, move: to("evicted", ...seqs.filter((seq) => seq % 2 === 0)) };
  }),
  { append: [message(133)], move: to("live", ...span(33, 132).filter((seq) => seq % 2 === 0)) },
  { move: to("superseded", 10) },
];

export interface Large {
  /** What the memory holds, and the version it has. */
  readonly before: readonly Kept[];
  readonly version: string;
}

/** Makes a memory of many rows, once for the tests of a file. */
export function useLarge(): {
  readonly large: () => Large;
  /** The memory once more, for itself. Answers what begins the keys of its partitions. */
  readonly copied: (prefix: string) => Promise<string>;
  readonly open: (prefix: string, by?: DynamoClient, ttlMs?: number) => DynamoStore;
  /** Nothing but what the memory holds is stored, and nothing is left to do. */
  readonly expectClean: (prefix: string, kept: readonly Kept[]) => Promise<void>;
  readonly expectNothing: (prefix: string) => Promise<void>;
  /** A client whose `step`-th write after a transaction waits, and all later ones; `reached` once it does. */
  readonly pausing: (step: number) => { client: DynamoClient; reached: Promise<void>; go: () => void };
} & Pick<ReturnType<typeof useOwnTable>, "client"> {
  const { tableName, client } = useOwnTable();
  let stored: Item[] = [];
  let [before, version]: [Kept[], string | null] = [[], null];

  beforeAll(async () => {
    const store = dynamoStore({ client, tableName });
    for (const part of parts) {
      const last = part.append?.at(-1)?.seq ?? 133;
      const change = update(version, last + 1, { owner: "o", ...part });
      await store.updateMessages(memoryId, change);
      before = changed(before, change);
      version = change.version;
    }
    const own = await itemsIn(client, tableName, `memory:${memoryId}`);
    expect(own.filter(({ count, nextSeq }) => count && !nextSeq).length).toBeGreaterThan(104);
    stored = [...own, ...(await itemsBeside(client, tableName, memoryId))];
  });

  return {
    client,
    large: () => ({ before, version: version as string }),
    async copied(prefix) {
      await copyMemory(client, tableName, stored, prefix);
      return prefix;
    },
    open: (prefix, by = client, ttlMs = undefined) => dynamoStore({ client: by, tableName, prefix, ttlMs }),
    async expectClean(prefix, kept) {
      expect(await idsStored(client, tableName, memoryId, prefix)).toEqual(kept.map(({ id }) => id).sort());
      const items = await itemsIn(client, tableName, `${prefix}memory:${memoryId}`);
      const kinds = new Set(items.map(({ sk }) => sk?.S?.split("/")[1]));
      expect([...kinds].sort()).toEqual(["i", "m", "s", undefined]);
      expect(items.filter(({ rows }) => rows?.S === "")).toEqual([]);
      expect(items.find(({ sk }) => sk?.S === "head")?.pending).toBeUndefined();
      expect(await itemsBeside(client, tableName, memoryId, prefix)).toHaveLength(1);
    },
    async expectNothing(prefix) {
      expect(await itemsIn(client, tableName, `${prefix}memory:${memoryId}`)).toEqual([]);
      expect(await itemsBeside(client, tableName, memoryId, prefix)).toEqual([]);
    },
    pausing(step) {
      const [reached, going] = [gate(), gate()];
      let writes: number | undefined;
      const paused = wrapped(client, async (command, send) => {
        if (writes !== undefined && !isRead(command) && ++writes >= step) {
          reached.open();
          await going.opened;
        }
        const answer = await send();
        if (command.operation === "TransactWriteItems") writes ??= 0;
        return answer;
      });
      return { client: paused, reached: reached.opened, go: going.open };
    },
  };
}

/** Every kind of read shows what the memory is to hold. */
export async function expectState(store: ChatMemoryStore, kept: readonly Kept[]): Promise<void> {
  expect((await store.getMessages(memoryId)).messages).toEqual(liveOf(kept));
  expect((await store.getHistory(memoryId, { limit: 1_000 })).messages).toEqual(kept);
  const order = "descending" as const;
  const older = kept.filter(({ seq }) => seq < 100).reverse();
  const page = await store.getHistory(memoryId, { order, before: 100, limit: 30 });
  expect(page).toEqual({ messages: older.slice(0, 30), hasMore: older.length > 30 });
  const ids = ["m2", "m31", "m32", "m60", "m90", "m133"];
  expect((await store.getHistory(memoryId, { ids })).messages).toEqual(
    kept.filter(({ id }) => ids.includes(id)),
  );
  const states = ["superseded" as const];
  expect((await store.getHistory(memoryId, { states, limit: 1_000 })).messages).toEqual(
    kept.filter(({ state }) => state === "superseded"),
  );
}
