import { randomUUID } from "node:crypto";
import type { ChatMemoryStore, StoredMessage } from "@turnkeep/core";
import type { Benchmark, Target } from "../benchmark.ts";
import { databases } from "../databases.ts";
import { median } from "../measure.ts";
import type { Cell } from "../report/table.ts";

const day = 86_400_000;
const fewest = 20;
interface Sizes {
  readonly memories: number;
  readonly messages: number;
}

const usual: Sizes = { memories: 100_000, messages: 1_000_000 };
/** DynamoDB Local takes some ten times as long as the others, and bills nothing; a replica set writes three times. */
const sizes: Readonly<Record<string, Sizes>> = {
  dynamo: { memories: 5_000, messages: 50_000 },
  mongo: { ...usual, memories: 20_000 },
};
/** How many messages come in one update, and how many updates are under way at once. */
const [batch, atOnce] = [1_000, 16];

const payload = JSON.stringify({
  role: "user",
  content: "All human beings are born free and equal. ".repeat(5),
});

/** What is done now and then beside conversations: a sweep that finds nothing, and the deletion of a very long memory. */
export const upkeep: Benchmark = {
  name: "upkeep",
  about: "a sweep that finds nothing, and the deletion of a memory of a million messages",
  parts: Object.keys(databases),
  async run({ quick, only, say }) {
    const sweeps: Cell[][] = [];
    const deletions: Cell[][] = [];
    const targets: Target[] = [];
    for (const [name, start] of Object.entries(databases)) {
      if (only.length > 0 && !only.includes(name)) continue;
      const { memories, messages } = quick ? { memories: 1_000, messages: 5_000 } : (sizes[name] ?? usual);
      const [few, many] = [await start({ ttlMs: day }), await start({ ttlMs: day })];
      try {
        say(`${name}: sweeps`);
        await begin(few.store, fewest);
        await begin(many.store, memories);
        const [amongFew, amongMany] = await timeSweeps(few.store, many.store);
        sweeps.push([name, amongFew, memories, amongMany, amongMany / amongFew]);
        // The others look at all that is there, for what interrupted calls left.
        if (name === "postgres") {
          const what = `${name}: a sweep among ${memories.toLocaleString("en-US")} memories, × among ${fewest}`;
          const measured = amongMany / amongFew;
          targets.push({ what, measured, atMost: 1.5, before: "45", decides: "capacity" });
        }
        say(`${name}: a memory of ${messages.toLocaleString("en-US")} messages`);
        deletions.push([name, messages, ...(await deleteLong(many.store, messages))]);
      } finally {
        await few.stop();
        await many.stop();
      }
    }
    return {
      tables: [
        {
          title: `A sweep that finds nothing, among ${fewest} memories and among many: medians, ms`,
          columns: ["", `among ${fewest}`, "memories", "among these", "×"],
          rows: sweeps,
        },
        {
          title: "The deletion of one long memory, while others are written",
          columns: ["", "messages", "s", "longest append elsewhere, ms", "more memory of the process, MB"],
          rows: deletions,
        },
      ],
      targets,
    };
  },
};

async function begin(store: ChatMemoryStore, count: number): Promise<void> {
  let next = 0;
  const beginSome = async (): Promise<void> => {
    while (next < count) await append(store, `memory ${next++}`, null, 1, 1);
  };
  await Promise.all(Array.from({ length: atOnce }, beginSome));
}

/** Medians, in turns, of as many as ten seconds have room for. */
async function timeSweeps(few: ChatMemoryStore, many: ChatMemoryStore): Promise<[few: number, many: number]> {
  const times = [few, many].map((store) => ({ store, ms: [] as number[] }));
  const end = performance.now() + 10_000;
  for (let round = 0; round < 100 && (round < 3 || performance.now() < end); round++) {
    for (const { store, ms } of times) {
      const began = performance.now();
      await store.sweep();
      ms.push(performance.now() - began);
    }
  }
  return times.map(({ ms }) => median(ms)) as [number, number];
}

/** How long it took, the longest append to another memory meanwhile, and by how much the process grew. */
async function deleteLong(store: ChatMemoryStore, length: number): Promise<Cell[]> {
  let version: string | null = null;
  for (let first = 1; first <= length; first += batch) {
    version = await append(store, "long", version, first, Math.min(batch, length + 1 - first), first > 1);
  }
  const before = process.memoryUsage().rss;
  let [isOver, longestMs, most] = [false, 0, before];
  const write = async (): Promise<void> => {
    let last: string | null = null;
    for (let seq = 1; !isOver; seq++) {
      const began = performance.now();
      last = await append(store, "beside", last, seq, 1);
      longestMs = Math.max(longestMs, performance.now() - began);
      most = Math.max(most, process.memoryUsage().rss);
    }
  };
  const writing = write();
  const began = performance.now();
  let seconds: number;
  try {
    await store.deleteMessages("long");
    seconds = (performance.now() - began) / 1_000;
  } finally {
    // Before anything closes the store that it writes to.
    isOver = true;
    await writing;
  }
  return [seconds, longestMs, (most - before) / 2 ** 20];
}

/** So many messages from that seq on; `leaves`: those of the batch before leave. */
async function append(
  store: ChatMemoryStore,
  memoryId: string,
  expected: string | null,
  first: number,
  count: number,
  leaves = false,
): Promise<string> {
  const version = randomUUID();
  const messages = Array.from({ length: count }, (_, index): StoredMessage => {
    return { id: randomUUID(), seq: first + index, createdAt: Date.now(), payload };
  });
  const move = leaves
    ? Array.from({ length: batch }, (_, index) => ({ seq: first - 1 - index, to: "evicted" as const }))
    : [];
  const nextSeq = first + count;
  await store.updateMessages(memoryId, { expected, version, nextSeq, append: messages, replace: [], move });
  return version;
}
