import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  type ChatMemoryOptions,
  type ChatMemoryStore,
  createChatMemory,
  entry,
  type HistoryMessage,
  inMemoryStore,
  isTurnkeepError,
  type MemoryHistoryQuery,
  type MemoryTransaction,
  type ModelMessage,
  system,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { withoutHistory } from "./without-history.ts";

type Memory = ChatMemory<ModelMessage>;
type Policy = Pick<
  ChatMemoryOptions<ModelMessage>,
  "window" | "history" | "systemMessages" | "systemFirst"
> & {
  readonly isForgetful?: boolean;
};

const kinds = [
  "ask",
  "answer",
  "call",
  "result",
  "under an id",
  "say to the model",
  "instruct",
  "put",
  "put the same",
  "remove",
  "remove one",
  "rewind",
  "restore",
  "compact",
  "set",
] as const;

/** One change; `place` names an id by its place among those that there were, `text` makes the messages. */
interface Act {
  readonly kind: (typeof kinds)[number];
  readonly place: number;
  readonly text: string;
}

const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom(...kinds),
  place: fc.nat(20),
  text: fc.constantFrom("a", "b", "c"),
});

const adding: ReadonlySet<Act["kind"]> = new Set([
  "ask",
  "answer",
  "call",
  "result",
  "under an id",
  "say to the model",
  "instruct",
]);

/** Without two adds in a row: those of a transaction are one. */
const acts = fc
  .array(act, { minLength: 1, maxLength: 8 })
  .map((all) =>
    all.filter(({ kind }, at) => !adding.has(kind) || !adding.has(all[at - 1]?.kind ?? "rewind")),
  );

const policies: [string, Policy][] = [
  ["without a window", {}],
  ["of four messages in steps", { window: { maxMessages: 4, target: 0.5 } }],
  ["of four messages in turns", { window: { maxMessages: 4, unit: "turn", overflow: "keep" } }],
  ["of four messages one by one", { window: { maxMessages: 4, unit: "message" } }],
  ["of instructions that stay", { window: { maxMessages: 5 }, systemMessages: "positioned" }],
  ["of four messages and no history", { window: { maxMessages: 4 }, history: false }],
  ["of four messages in a store without history", { window: { maxMessages: 4 }, isForgetful: true }],
];

/** The calls that a memory and a transaction share. */
type Changing = Pick<
  MemoryTransaction<ModelMessage>,
  "add" | "instruct" | "put" | "remove" | "rewind" | "restore" | "compact" | "set"
>;

/** Makes a change, and notes the ids that it brings. The id of a system message may belong to none. */
async function make(on: Changing | Memory, { kind, place, text }: Act, ids: string[]): Promise<void> {
  const id = ids[place % (ids.length || 1)] ?? "none";
  const add = async (...messages: Parameters<Memory["add"]>) => void ids.push(...(await on.add(...messages)));
  switch (kind) {
    case "ask":
      return add(user(text), user("more"));
    case "answer":
      return add(assistant(text));
    case "call":
      return add(toolCall(text, "t", {}));
    case "result":
      return add(toolResult(text, "t", text));
    case "under an id":
      return add(entry(user(text), { id: text }), entry(user("z"), { id }));
    case "say to the model":
      return void (await on.add(system(text)));
    case "instruct":
      return void (await on.instruct(system(text)));
    case "put":
      return void (await on.put(place % 3 === 0 ? text : id, user(`put ${text}`)));
    case "put the same":
      return void (await on.put(id, user("more"), { mustExist: true }));
    case "remove":
      return void (await on.remove(id));
    case "remove one":
      return void (await on.remove(id, { only: true }));
    case "rewind":
      return void (await on.rewind(id));
    case "restore":
      return void (await on.restore(id));
    case "compact":
      return void ids.push(await on.compact({ through: id, replacement: user(`sum ${text}`) }));
    case "set":
      return void ids.push(...(await on.set([user(`set ${text}`), assistant("ok"), user(text)])));
  }
}

async function failureOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (isTurnkeepError(error)) return error.code;
    throw error;
  }
}

/** A memory with a beginning, in a store of its own that counts its updates. */
class World {
  readonly raw: ChatMemoryStore = inMemoryStore();
  readonly policy: Policy;
  readonly memory: Memory;
  updates = 0;
  ids: string[] = [];

  constructor(policy: Policy) {
    this.policy = policy;
    this.memory = this.open();
  }

  open(): Memory {
    const store: ChatMemoryStore = {
      ...this.raw,
      // Pages so short that what a transaction changes stands on their borders.
      getHistory: (memoryId, query, options) => {
        const { ids, limit = 100 } = query;
        return this.raw.getHistory(memoryId, ids ? query : { ...query, limit: Math.min(limit, 2) }, options);
      },
      updateMessages: async (...given) => {
        await this.raw.updateMessages(...given);
        this.updates++;
      },
    };
    const { isForgetful = false, ...policy } = this.policy;
    return createChatMemory({ id: "m", store: isForgetful ? withoutHistory(store) : store, ...policy });
  }

  /** As far as the changes are possible. */
  async begin(beginning: readonly Act[]): Promise<void> {
    for (const each of beginning) await failureOf(make(this.memory, each, this.ids));
    this.ids = (await this.raw.getHistory("m", { limit: 1000 })).messages.map(({ id }) => id);
    this.updates = 0;
  }

  /** All that is stored, but for what differs with each run. */
  async stored(): Promise<unknown> {
    const { nextSeq, head } = await this.raw.getMessages("m");
    const { messages } = await this.raw.getHistory("m", { limit: 1000 });
    const rows = messages.map(({ id, createdAt: _, meta, ...row }) => ({
      ...row,
      meta: { ...JSON.parse(meta ?? "{}"), by: undefined },
      ...(id.length > 1 ? {} : { id }),
    }));
    return { nextSeq, head: head?.replace(/"life":"[^"]*"/, ""), rows };
  }

  version(): Promise<string | null> {
    return this.raw.getMessages("m").then(({ version }) => version);
  }
}

async function afterAll(world: World, changes: readonly Act[]): Promise<string | undefined> {
  for (const each of changes) {
    const code = await failureOf(make(world.memory, each, world.ids));
    if (code !== undefined) return code;
  }
  return undefined;
}

/** What is shown, or the code of the error that says why nothing is: a step that does not fit. */
function viewOf(of: { messages(): Promise<unknown[]> }): Promise<unknown> {
  return orCode(of.messages());
}

/** All that was said, in pages of any size and either order, or the code of the error that says that nothing is kept. */
function saidIn(of: Pick<Memory, "history">): Promise<unknown> {
  return orCode(pagesOf(of));
}

async function orCode(work: Promise<unknown>): Promise<unknown> {
  return (await failureOf(work)) ?? work;
}

/** Also what is asked for by its id. */
async function pagesOf(of: Pick<Memory, "history">): Promise<unknown> {
  const queries: MemoryHistoryQuery[] = [
    { branches: true },
    { limit: 1, branches: true },
    { limit: 3, order: "descending" },
    { limit: 2, states: ["live", "evicted"] },
    { limit: 1, states: ["superseded"], order: "descending", branches: true },
  ];
  const lists: unknown[][] = [];
  for (const query of queries) {
    const list: HistoryMessage<ModelMessage>[] = [];
    for (let next = query; ; ) {
      const { messages, hasMore } = await of.history(next);
      expect(messages.length).toBeLessThanOrEqual(query.limit ?? 100);
      list.push(...messages);
      if (!hasMore) break;
      const seq = messages.at(-1)?.seq;
      next = query.order === "descending" ? { ...query, before: seq } : { ...query, after: seq };
    }
    lists.push(list);
    const ids = list.map(({ id }) => id);
    if (ids.length > 0) lists.push((await of.history({ ids, states: ["live"] })).messages);
  }
  return lists;
}

async function compare(alone: World, together: World): Promise<void> {
  expect(await together.stored()).toEqual(await alone.stored());
  for (const read of [together.memory, together.open()]) {
    expect(await viewOf(read)).toEqual(await viewOf(alone.open()));
    expect((await read.entries()).map(({ seq, message }) => ({ seq, message }))).toEqual(
      (await alone.open().entries()).map(({ seq, message }) => ({ seq, message })),
    );
  }
}

const runs = { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 30) };

describe("a transaction of any changes", () => {
  test.each(policies)("%s: is what they come to one by one, in one update, or nothing", async (_, policy) => {
    const property = fc.asyncProperty(
      fc.array(act, { maxLength: 8 }),
      acts,
      fc.boolean(),
      async (beginning, changes, reads) => {
        const [alone, together] = [new World(policy), new World(policy)] as const;
        for (const world of [alone, together]) await world.begin(beginning);
        const before = await together.version();
        let shown: unknown;
        const committed = together.memory.transaction(
          async (transaction) => {
            for (const each of changes) await make(transaction, each, together.ids);
            if (!reads) return;
            shown = [await viewOf(transaction), await transaction.entries(), await saidIn(transaction)];
          },
          { onConflict: reads ? "throw" : undefined },
        );
        const [wanted, met] = [await afterAll(alone, changes), await failureOf(committed)];
        if (met === "UNSUPPORTED") return;
        expect(met).toBe(wanted);
        if (wanted !== undefined) expect(await together.version()).toBe(before);
        expect(together.updates).toBeLessThanOrEqual(1);
        if (wanted !== undefined) return;
        await compare(alone, together);
        if (!reads) return;
        const { memory } = together;
        expect(shown).toMatchObject([
          await viewOf(alone.memory),
          await memory.entries(),
          await saidIn(memory),
        ]);
      },
    );
    await fc.assert(property, runs);
  });

  test.each(policies)("%s: with merge, is applied again to what others made meanwhile", async (_, policy) => {
    const property = fc.asyncProperty(
      fc.array(act, { maxLength: 8 }),
      acts,
      act,
      async (beginning, changes, other) => {
        const [alone, together] = [new World(policy), new World(policy)] as const;
        for (const world of [alone, together]) await world.begin(beginning);
        const others = together.open();
        const known = [...together.ids];
        const committed = together.memory.transaction(
          async (transaction) => {
            for (const each of changes) await make(transaction, each, together.ids);
            await failureOf(make(others, other, known));
          },
          { onConflict: "merge" },
        );
        const met = await failureOf(committed);
        await failureOf(make(alone.open(), other, [...alone.ids]));
        // Its `set` goes by what the memory is by then, as one that looks first.
        await alone.memory.entries();
        const wanted = await afterAll(alone, changes);
        if (met === "UNSUPPORTED") return;
        expect(met).toBe(wanted);
        if (wanted === undefined) await compare(alone, together);
      },
    );
    await fc.assert(property, runs);
  });
});
