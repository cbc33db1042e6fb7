import {
  type ChatMemories,
  type ChatMemory,
  createChatMemories,
  type ModelMessage,
  user,
} from "@turnkeep/core";
import type { Benchmark } from "../benchmark.ts";
import type { Cell } from "../report/table.ts";
import { type Counted, countedDatabases, type Spent } from "../stores/counted.ts";

/** Of each call, the median of so many. */
const rounds = 5;
const owner = "ann";
const text = "What does the second seat cost if we travel one day later? ".repeat(4);

/** A conversation that a process has open, and what an application does with it. */
interface Subject {
  readonly memories: ChatMemories<ModelMessage>;
  readonly memory: ChatMemory<ModelMessage>;
  /** The same conversation, as another process has it. */
  readonly others: ChatMemory<ModelMessage>;
  readonly round: number;
}

interface Call {
  readonly name: string;
  /** What must have happened before, and is not counted; answers what the call is about, if it must be told. */
  readonly before?: (subject: Subject) => Promise<unknown>;
  readonly run: (subject: Subject, messageId: string) => Promise<unknown>;
}

async function newest({ memory }: Subject): Promise<string> {
  return (await memory.entries()).at(-1)?.id ?? "";
}

function edit({ memory }: Subject, messageId: string): Promise<void> {
  return memory.transaction((change) => {
    change.rewind(messageId);
    change.add(user(text));
  });
}

async function edited(subject: Subject): Promise<string> {
  const id = await newest(subject);
  await edit(subject, id);
  return id;
}

/** In this order: each leaves about as many messages as it found. */
const all: readonly Call[] = [
  {
    name: "`add`, the first message of a memory",
    run: ({ memories, round }) => begin(memories, `new ${round}`),
  },
  { name: "`add`", before: makeRoom, run: ({ memory }) => memory.add(user(text)) },
  { name: "`add` that evicts", before: fill, run: ({ memory }) => memory.add(user(text)) },
  {
    name: "`put` of the newest, as it streams",
    before: ({ memory }) => memory.put("streaming", user(text)),
    run: ({ memory, round }) => memory.put("streaming", user(`${text} and ${round}`)),
  },
  { name: "edit: `rewind` and `add`", before: newest, run: edit },
  {
    name: "`restore` of the other version",
    before: edited,
    run: ({ memory }, messageId) => memory.restore(messageId),
  },
  { name: "`messages` of what is known", run: ({ memory }) => memory.messages() },
  {
    name: "`messages` after another process wrote",
    before: ({ others }) => others.add(user(text)),
    run: ({ memory }) => memory.messages(),
  },
  { name: "`update` of the data", run: ({ memory, round }) => memory.update({ title: `Seats ${round}` }) },
  {
    name: "`history`, a page of 20",
    run: ({ memory }) => memory.history({ limit: 20, order: "descending" }),
  },
  { name: "`turn`, taken and given back", run: ({ memory }) => memory.turn(async () => {}) },
  {
    name: "`list` of the newest 20",
    run: ({ memories }) => memories.list({ owner, order: "newest", limit: 20 }),
  },
  {
    name: "`assign` of one memory",
    before: ({ memories, round }) => begin(memories, `guest ${round}`, "guest"),
    run: ({ memories }) => memories.assign({ from: "guest", to: owner }),
  },
  {
    name: "`prune` of the old messages of one memory",
    before: ({ memories, round }) => beginWithEvicted(memories, `pruned ${round}`),
    run: ({ memories, round }) => memories.prune({ olderThanMs: 0, owner: `pruned ${round}` }),
  },
  {
    name: "`erase` of an owner of one memory",
    before: ({ memories, round }) => begin(memories, `erased ${round}`, `erased ${round}`),
    run: ({ memories, round }) => memories.erase({ owner: `erased ${round}` }),
  },
];

/** What each call of a memory costs in each database. It is counted, so a busy machine changes nothing. */
export const calls: Benchmark = {
  name: "calls",
  about: "what each call of a memory sends to each database",
  parts: Object.keys(countedDatabases),
  async run({ only, say }) {
    const found: { readonly name: string; readonly cells: readonly Cell[] }[] = [];
    for (const [name, start] of Object.entries(countedDatabases)) {
      if (only.length > 0 && !only.includes(name)) continue;
      say(name);
      const database = await start();
      try {
        found.push({ name: database.name, cells: (await spentBy(database)).map(database.show) });
      } finally {
        await database.stop();
      }
    }
    const title =
      "Round trips · KB sent; requests · units written + read of DynamoDB; batches · statements of SQLite. Medians of five.";
    const columns = ["", ...found.map(({ name }) => name)];
    const rows = all.map(({ name }, index) => [name, ...found.map(({ cells }) => cells[index] ?? null)]);
    return { tables: [{ title, columns, rows }] };
  },
};

async function spentBy({ store, other, spent }: Counted): Promise<Spent[]> {
  const window = { maxMessages: 40, target: 0.7 };
  const memories = createChatMemories({ store, window });
  const elsewhere = createChatMemories({ store: other, window });
  for (let index = 0; index < 30; index++) await begin(memories, `other ${index}`);
  const memory = memories.get("chat", { owner });
  for (let index = 0; index < 60; index++) await memory.add(user(text));
  const found: Spent[] = [];
  for (const { before, run } of all) {
    const spents: Spent[] = [];
    for (let round = 0; round < rounds; round++) {
      const subject = { memories, memory, others: elsewhere.get("chat", { owner }), round };
      const about = await before?.(subject);
      spents.push(await spent(() => run(subject, about as string)));
    }
    spents.sort((a, b) => a.calls - b.calls || a.out - b.out);
    found.push(spents[rounds >> 1] as Spent);
  }
  return found;
}

async function begin(memories: ChatMemories<ModelMessage>, id: string, of = owner): Promise<void> {
  await memories.get(id, { owner: of }).add(user(text));
}

async function beginWithEvicted(memories: ChatMemories<ModelMessage>, id: string): Promise<void> {
  const memory = memories.get(id, { owner: id });
  for (let index = 0; index < 50; index++) await memory.add(user(text));
}

async function makeRoom({ memory }: Subject): Promise<void> {
  while ((await memory.entries()).length > 35) await memory.add(user(text));
}

async function fill({ memory }: Subject): Promise<void> {
  while ((await memory.entries()).length < 40) await memory.add(user(text));
}
