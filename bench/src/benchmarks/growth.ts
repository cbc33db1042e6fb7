import {
  type ChatMemory,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  type ModelMessage,
  type WindowOptions,
} from "@turnkeep/core";
import { startPostgres } from "@turnkeep/servers";
import { postgresStore } from "@turnkeep/store-postgres";
import { tokenCounter } from "@turnkeep/tokens";
import type { Benchmark, Target } from "../benchmark.ts";
import { conversation } from "../corpus.ts";
import { liveHeap } from "../growth/heap.ts";
import { median } from "../measure.ts";
import type { Cell } from "../report/table.ts";

/** How many memories `createChatMemories` keeps loaded unless it is told otherwise. */
const maxLoaded = 1_000;
const megabyte = 2 ** 20;

/**
 * What a process that serves many memories holds: their messages are in Postgres, so that its heap holds only what a
 * memory keeps beside them.
 */
export const growth: Benchmark = {
  name: "growth",
  about: "heap and time of a process that serves 10,000 memories, and of one long memory",
  parts: ["many", "long"],
  async run({ quick, only, say }) {
    const server = await startPostgres();
    const store = postgresStore({ url: server.url });
    try {
      await store.migrate();
      const window = { maxTokens: 4_000, counter: await tokenCounter("o200k_base") };
      const isChosen = (part: string): boolean => only.length === 0 || only.includes(part);
      const many = isChosen("many") ? await serveMany(store, window, { quick, say }) : undefined;
      const long = isChosen("long") ? await readLong(store, window, { quick, say }) : undefined;
      return {
        tables: [many, long].flatMap((found) => (found === undefined ? [] : [found.table])),
        targets: [many, long].flatMap((found) => found?.targets ?? []),
      };
    } finally {
      await store.close();
      await server.stop();
    }
  },
};

interface Part {
  readonly quick: boolean;
  say(text: string): void;
}

interface Found {
  readonly table: { readonly title: string; readonly columns: string[]; readonly rows: Cell[][] };
  readonly targets: readonly Target[];
}

/** Each memory is asked for, written and read once it holds 60 messages; what was served stays loaded, up to the bound. */
async function serveMany(
  store: ChatMemoryStore,
  window: WindowOptions<ModelMessage>,
  { quick, say }: Part,
): Promise<Found> {
  const marks = quick ? [500, 1_000, 1_500] : [500, 1_000, 2_000, 5_000, 10_000];
  const turns = 16;
  const memories = createChatMemories({ store, window });
  const messages = conversation(60);
  // Everything that is made once in a process is made before the heap is looked at.
  await memories.get("first").add(...messages);
  const empty = await liveHeap();
  const rows: Cell[][] = [];
  let served = 0;
  for (const mark of marks) {
    say(`${mark} memories`);
    const times: number[] = [];
    const serve = async (): Promise<void> => {
      while (served < mark) {
        const memory = memories.get(`memory-${served++}`);
        await memory.add(...messages.slice(0, -1));
        const began = performance.now();
        await memory.add(...messages.slice(-1));
        await memory.messages();
        times.push(performance.now() - began);
      }
    };
    await Promise.all(Array.from({ length: turns }, serve));
    const heap = (await liveHeap()) - empty;
    const loaded = Math.min(mark, maxLoaded);
    rows.push([mark, heap / megabyte, heap / loaded / 1_024, median(times)]);
  }
  await memories.close();
  const heapAt = (mark: number): number => (rows.find(([served]) => served === mark)?.[1] as number) ?? 0;
  const last = marks.at(-1) ?? 0;
  const perLoaded = Number(rows.at(-1)?.[2]);
  return {
    table: {
      title: `Memories served by one process, ${turns} at a time, ${maxLoaded.toLocaleString("en-US")} kept loaded`,
      columns: ["memories", "heap, MB", "heap per loaded memory, KB", "add and read, ms"],
      rows,
    },
    targets: [
      {
        what: "heap a loaded memory, KB",
        measured: perLoaded,
        atMost: 60,
        before: "59–83",
        decides: "capacity",
      },
      {
        what: `heap after ${last.toLocaleString("en-US")} memories, times that after ${maxLoaded.toLocaleString("en-US")}`,
        measured: heapAt(last) / heapAt(maxLoaded),
        atMost: 1.2,
      },
    ],
  };
}

/** So many newest messages come at once, so that the window shows the same ones behind every length. */
const newest = 100;

async function readLong(
  store: ChatMemoryStore,
  window: WindowOptions<ModelMessage>,
  { quick, say }: Part,
): Promise<Found> {
  const lengths = quick ? [100, 1_000] : [100, 1_000, 10_000, 100_000];
  const [system, ...said] = conversation(Math.max(...lengths));
  if (system === undefined) throw new Error("A conversation begins with a system message");
  const rows: Cell[][] = [];
  for (const length of lengths) {
    say(`a memory of ${length} messages`);
    const id = `long-${length}`;
    const memory = createChatMemory({ id, store, window });
    const older = said.slice(said.length + 1 - length, said.length + 1 - newest);
    await memory.add(system);
    for (let at = 0; at < older.length; at += 500) await memory.add(...older.slice(at, at + 500));
    await memory.add(...said.slice(1 - newest));
    await memory.close();
    const { shown, heap, time } = await readByMany(() => createChatMemory({ id, store, window }));
    rows.push([length, shown, heap / 1_024, time]);
  }
  const heapOf = (length: number): number => (rows.find(([said]) => said === length)?.[2] as number) ?? 0;
  const last = lengths.at(-1) ?? 0;
  return {
    table: {
      title: `A memory by what has been said in it, ${instances} instances of each`,
      columns: ["messages said", "messages shown", "heap, KB, mean", "first read, ms, median"],
      rows,
    },
    targets: [
      {
        what: `heap of a memory of ${last.toLocaleString("en-US")} messages, times one of ${lengths[0]}`,
        measured: heapOf(last) / heapOf(lengths[0] ?? 0),
        atMost: 1.2,
      },
    ],
  };
}

const instances = 200;

/** What one more instance holds once it has read: the mean of many, since a heap is never quite still. */
async function readByMany(
  open: () => ChatMemory<ModelMessage>,
): Promise<{ readonly shown: number; readonly heap: number; readonly time: number }> {
  const before = await liveHeap();
  const opened = Array.from({ length: instances }, open);
  const times: number[] = [];
  let shown = 0;
  for (const memory of opened) {
    const began = performance.now();
    shown = (await memory.messages()).length;
    times.push(performance.now() - began);
  }
  const heap = ((await liveHeap()) - before) / instances;
  // Until here they are held.
  for (const memory of opened) await memory.close();
  return { shown, heap, time: median(times) };
}
