import fc from "fast-check";
import { expect, test } from "vitest";
import { isTurnkeepError } from "../src/errors.ts";
import type {
  ChatMemoryStore,
  HistoryPage,
  HistoryQuery,
  MemorySnapshot,
  MemoryUpdate,
  MessageState,
  StoredMessage,
} from "../src/store-contract.ts";
import { inMemoryStore } from "../src/stores/in-memory-store.ts";
import { keyValueStore } from "../src/stores/key-value-store.ts";
import { mapHooks, newVersion } from "./stores-support.ts";

const ttlMs = 100;
const states: readonly MessageState[] = ["live", "evicted", "superseded"];

interface ModelMemory {
  version: string;
  nextSeq: number;
  owner: string | undefined;
  head: string | undefined;
  data: string | undefined;
  expiresAt: number;
  /** Greater than that of every memory that was written to before. */
  active: number;
  rows: (StoredMessage & { state: MessageState })[];
}

/** The contract, written down as plainly as it can be: one array a memory, every change made one after another. */
class Model {
  time = 0;
  writes = 0;
  readonly memories: Map<string, ModelMemory> = new Map();

  find(id: string): ModelMemory | undefined {
    const memory = this.memories.get(id);
    return memory !== undefined && this.time < memory.expiresAt ? memory : undefined;
  }

  update(id: string, change: MemoryUpdate): string | undefined {
    const old = this.find(id);
    if (old?.version === change.version) return undefined;
    if ((old?.version ?? null) !== change.expected) return "VERSION_CONFLICT";
    let rows = [...(old?.rows ?? []), ...change.append.map((row) => ({ ...row, state: "live" as const }))];
    rows = rows.map((row) => {
      const replaced = change.replace.find(({ seq }) => seq === row.seq);
      const to = change.move.find(({ seq }) => seq === row.seq)?.to ?? row.state;
      return { ...(replaced ?? row), state: to as MessageState };
    });
    this.memories.set(id, {
      version: change.version,
      nextSeq: change.nextSeq,
      owner: change.owner ?? old?.owner,
      head: change.head ?? old?.head,
      data: change.data ?? old?.data,
      expiresAt: change.ttlMs === null ? Number.POSITIVE_INFINITY : this.time + (change.ttlMs ?? ttlMs),
      active: ++this.writes,
      rows: rows.filter(({ state }) => states.includes(state)),
    });
    return undefined;
  }

  snapshot(id: string): MemorySnapshot {
    const memory = this.find(id);
    if (memory === undefined) return { version: null, nextSeq: 1, messages: [] };
    const { version, nextSeq, owner, head, data } = memory;
    const messages = memory.rows.filter(({ state }) => state === "live").map(({ state: _, ...rest }) => rest);
    return { version, nextSeq, owner, head, data, messages };
  }

  history(id: string, query: HistoryQuery): HistoryPage {
    const rows = (this.find(id)?.rows ?? [])
      .filter(({ seq }) => seq > (query.after ?? 0) && seq < (query.before ?? Number.POSITIVE_INFINITY))
      .filter(({ state }) => query.states?.includes(state) ?? true)
      .filter((row) => query.ids?.includes(row.id) ?? true)
      .sort((a, b) => (query.order === "descending" ? b.seq - a.seq : a.seq - b.seq));
    const limit = query.limit ?? 100;
    return { messages: rows.slice(0, limit), hasMore: rows.length > limit };
  }

  /** Newest first. */
  list(owner: string | undefined): string[] {
    return [...this.memories]
      .filter(
        ([id, memory]) => this.find(id) !== undefined && (owner === undefined || memory.owner === owner),
      )
      .sort(([, one], [, other]) => other.active - one.active)
      .map(([id]) => id);
  }
}

/** What a step is made of; the choices are resolved against the state at that moment. */
const memoryId = fc.constantFrom("a", "b", "A");
const owner = fc.constantFrom("me", "you", undefined);
const target = fc.constantFrom<MessageState | "removed">("live", "evicted", "superseded", "removed");
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("update" as const),
      id: memoryId,
      basis: fc.constantFrom("right", "right", "right", "right", "stale", "none"),
      owner,
      head: fc.option(fc.string({ unit: "grapheme", maxLength: 5 }), { nil: undefined }),
      data: fc.option(fc.string({ unit: "grapheme", maxLength: 5 }), { nil: undefined }),
      lives: fc.constantFrom(undefined, undefined, undefined, 50, 150, null),
      appends: fc.array(fc.record({ gap: fc.nat(2), meta: fc.boolean(), to: fc.option(target) }), {
        maxLength: 4,
      }),
      changes: fc.array(fc.record({ pick: fc.nat(), replace: fc.boolean(), to: fc.option(target) }), {
        maxLength: 4,
      }),
      spare: fc.nat(2),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("replay" as const), pick: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), id: memoryId }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 60, 100) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("sweep" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("history" as const),
      id: memoryId,
      query: fc.record(
        {
          after: fc.nat(12),
          before: fc.nat(20),
          order: fc.constantFrom("ascending" as const, "descending" as const),
          limit: fc.integer({ min: 1, max: 6 }),
          states: fc.subarray([...states]),
          ids: fc.array(fc.nat(15).map((seq) => `m${seq}`)),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("list" as const),
      owner,
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function resolve(model: Model, plan: Extract<Step, { kind: "update" }>): MemoryUpdate {
  const memory = model.find(plan.id);
  let seq = (memory?.nextSeq ?? 1) - 1;
  const move: MemoryUpdate["move"] = [];
  const append = plan.appends.map(({ gap, meta, to }): StoredMessage => {
    seq += 1 + gap;
    if (to !== null) move.push({ seq, to });
    return {
      id: `m${seq}`,
      seq,
      createdAt: seq,
      payload: `"${newVersion()}"`,
      ...(meta ? { meta: "{}" } : {}),
    };
  });
  const replace: MemoryUpdate["replace"] = [];
  const rows = [...(memory?.rows ?? [])];
  for (const change of plan.changes) {
    const [row] = rows.splice(change.pick % Math.max(1, rows.length), 1);
    if (row === undefined) continue;
    const { state, ...message } = row;
    const said = { ...message, payload: `"${newVersion()}"` };
    if (change.replace && state === "live") replace.push(said);
    if (change.replace && state === "evicted") replace.push({ ...said, state });
    if (change.to !== null) move.push({ seq: row.seq, to: change.to });
  }
  const right = memory?.version ?? null;
  return {
    expected: plan.basis === "right" ? right : plan.basis === "none" ? null : "stale",
    version: newVersion(),
    nextSeq: seq + 1 + plan.spare,
    owner: plan.owner,
    head: plan.head,
    data: plan.data,
    ttlMs: plan.lives,
    append,
    replace,
    move,
  };
}

async function codeOf(call: Promise<unknown>): Promise<string | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    return isTurnkeepError(error) ? error.code : `not ours: ${error}`;
  }
}

async function listAll(
  store: ChatMemoryStore,
  who: string | undefined,
  limit: number,
  order?: "newest",
): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.listMemories({ owner: who, limit, cursor, order });
    expect(page.memories.length).toBeLessThanOrEqual(limit);
    found.push(...page.memories.map((memory) => memory.memoryId));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

async function replaySteps(store: ChatMemoryStore, model: Model, steps: readonly Step[]): Promise<void> {
  const sent: [id: string, change: MemoryUpdate][] = [];
  for (const one of steps) {
    switch (one.kind) {
      case "update": {
        const change = resolve(model, one);
        sent.push([one.id, change]);
        expect(await codeOf(store.updateMessages(one.id, change))).toBe(model.update(one.id, change));
        break;
      }
      case "replay": {
        const [id, change] = sent.at(-1 - one.pick) ?? [];
        // An update that began a memory which is gone would begin it again.
        if (id === undefined || change === undefined || (change.expected === null && !model.find(id))) break;
        expect(await codeOf(store.updateMessages(id, change))).toBe(model.update(id, change));
        break;
      }
      case "delete":
        await store.deleteMessages(one.id);
        model.memories.delete(one.id);
        break;
      case "wait":
        model.time += one.ms;
        break;
      case "sweep":
        await store.sweep();
        break;
      case "history":
        expect(await store.getHistory(one.id, one.query)).toEqual(model.history(one.id, one.query));
        break;
      case "list":
        expect((await listAll(store, one.owner, one.limit)).sort()).toEqual(model.list(one.owner).sort());
        if (!store.capabilities.newest) break;
        expect(await listAll(store, one.owner, one.limit, "newest")).toEqual(model.list(one.owner));
    }
    for (const id of ["a", "b", "A"]) {
      expect(await store.getMessages(id)).toEqual(model.snapshot(id));
      expect(await store.getHistory(id, {})).toEqual(model.history(id, {}));
    }
  }
}

test.each([
  ["inMemoryStore", (now: () => number) => inMemoryStore({ ttlMs, now })],
  ["keyValueStore", (now: () => number) => keyValueStore({ ...mapHooks(), ttlMs, now })],
])("%s answers whatever happens as the plainest model does", async (_, create) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const model = new Model();
      await replaySteps(
        create(() => model.time),
        model,
        steps,
      );
    }),
  );
});
