import type { ChatMemoryStore, HistoryQuery, MemoryUpdate, MessageState } from "@turnkeep/core";
import fc from "fast-check";
import type { ConformanceContext } from "../context.ts";
import { about } from "./expect.ts";
import { expectListed } from "./listed.ts";
import { type Change, describeUpdate, type TestMemory } from "./memory.ts";
import { expectOneWins } from "./rivals.ts";
import { sentences } from "./sentences.ts";
import { anyJsonText } from "./texts.ts";

/** A change in numbers without meaning yet: a pick is taken modulo what there is to pick from. */
interface AnyChange {
  readonly append: readonly string[];
  readonly replace: readonly { readonly pick: number; readonly payload: string }[];
  readonly move: readonly { readonly pick: number; readonly to: MessageState | "removed" }[];
  readonly head: string | undefined;
  readonly data: string | undefined;
  readonly owner: number;
  readonly gap: number;
}

/** One operation of a random sequence, by one of two clients on one of three memories. */
export type Operation = { readonly memory: number; readonly client: number } & (
  | { readonly kind: "update" | "stale"; readonly change: AnyChange }
  | { readonly kind: "race"; readonly change: AnyChange; readonly rival: AnyChange }
  | { readonly kind: "resend" | "known"; readonly pick: number }
  | { readonly kind: "delete" | "sweep" }
  | { readonly kind: "history"; readonly query: AnyQuery }
  | { readonly kind: "list" }
);

interface AnyQuery extends Omit<HistoryQuery, "ids"> {
  /** Message `m<n>` for each. */
  readonly ids?: readonly number[] | undefined;
}

const pick = fc.nat({ max: 50 });
const text = anyJsonText(12);
const state = fc.constantFrom<MessageState>("live", "evicted", "superseded");

const change: fc.Arbitrary<AnyChange> = fc.record({
  append: fc.array(text, { maxLength: 4 }),
  replace: fc.array(fc.record({ pick, payload: text }), { maxLength: 2 }),
  move: fc.array(fc.record({ pick, to: fc.oneof(state, fc.constant("removed" as const)) }), { maxLength: 4 }),
  head: fc.option(text, { nil: undefined }),
  data: fc.option(text, { nil: undefined }),
  owner: fc.nat({ max: 2 }),
  gap: fc.constantFrom(0, 0, 0, 3),
});

/** Any query of a history whose messages are `m1`, `m2` and so on. */
export const anyQuery: fc.Arbitrary<AnyQuery> = fc.record(
  {
    after: fc.nat({ max: 40 }),
    before: fc.nat({ max: 60 }),
    order: fc.constantFrom("ascending", "descending"),
    limit: fc.integer({ min: 1, max: 30 }),
    states: fc.uniqueArray(state, { maxLength: 3 }),
    ids: fc.array(fc.integer({ min: 1, max: 45 }), { maxLength: 20 }),
  },
  { requiredKeys: [] },
);

const where = { memory: fc.nat({ max: 2 }), client: fc.nat({ max: 1 }) };

/** Sequences of operations; they shrink to fewer and smaller ones. */
export const operations: fc.Arbitrary<Operation[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ ...where, kind: fc.constant("update" as const), change }) },
    {
      weight: 2,
      arbitrary: fc.record({ ...where, kind: fc.constant("race" as const), change, rival: change }),
    },
    { weight: 1, arbitrary: fc.record({ ...where, kind: fc.constant("stale" as const), change }) },
    { weight: 3, arbitrary: fc.record({ ...where, kind: fc.constant("resend" as const), pick }) },
    { weight: 2, arbitrary: fc.record({ ...where, kind: fc.constant("known" as const), pick }) },
    {
      weight: 2,
      arbitrary: fc.record({ ...where, kind: fc.constantFrom("delete" as const, "sweep" as const) }),
    },
    { weight: 3, arbitrary: fc.record({ ...where, kind: fc.constant("history" as const), query: anyQuery }) },
    { weight: 1, arbitrary: fc.record({ ...where, kind: fc.constant("list" as const) }) },
  ),
  { minLength: 1, maxLength: 24, size: "max" },
);

/** A query as it is sent. */
export function toQuery({ ids, ...query }: AnyQuery): HistoryQuery {
  return ids === undefined ? query : { ...query, ids: ids.map((id) => `m${id}`) };
}

/** The sentence that an operation is about. After a change that applies, what is stored tells more: `expectSnapshot`. */
const sentenceOf: Readonly<Partial<Record<Operation["kind"], string>>> = {
  stale: sentences.expected,
  resend: sentences.replay,
  known: sentences.known,
  delete: sentences.delete,
  sweep: sentences.sweep,
  history: sentences.historyPage,
  list: sentences.ofOwner,
};

/** Runs operations over fresh memories and compares the store with the model. Writes what it does into `log`. */
export class SequenceRun {
  readonly #context: ConformanceContext;
  readonly #log: string[];
  readonly #memories: readonly TestMemory[];
  readonly #owners: readonly string[];
  /** Every update that was ever sent to a memory, the lost ones too. */
  readonly #sent: MemoryUpdate[][] = [[], [], []];

  constructor(context: ConformanceContext, log: string[]) {
    this.#context = context;
    this.#log = log;
    this.#memories = [0, 1, 2].map(() => context.memory());
    this.#owners = [context.unique(), context.unique()];
  }

  async run(sequence: readonly Operation[]): Promise<void> {
    for (const operation of sequence) {
      this.#context.signal.throwIfAborted();
      const sentence = sentenceOf[operation.kind];
      if (sentence === undefined) await this.#step(operation);
      else await about(sentence, () => this.#step(operation));
    }
    for (const memory of this.#memories) {
      await about(sentences.apart, () => memory.check("after the last operation"));
    }
    await about(sentences.list, () => this.#list(this.#context.other));
  }

  async #step(operation: Operation): Promise<void> {
    const { store, other, capabilities } = this.#context;
    const index = operation.memory;
    const memory = this.#memories[index];
    const sent = this.#sent[index];
    if (memory === undefined || sent === undefined) return;
    const [client, rival] = operation.client === 0 ? [store, other] : [other, store];
    const note = (what: string) => this.#log.push(`client ${operation.client} memory ${index}: ${what}`);

    switch (operation.kind) {
      case "update": {
        const update = this.#updateOf(memory, operation.change);
        note(describeUpdate(update));
        await memory.send(update, client);
        sent.push(update);
        break;
      }
      case "stale": {
        const update = { ...this.#updateOf(memory, operation.change), expected: this.#context.unique() };
        note(`of a version that never was, ${describeUpdate(update)}`);
        await memory.refused("an update of another version", "VERSION_CONFLICT", update, client);
        break;
      }
      case "race": {
        const one = this.#updateOf(memory, operation.change);
        const two = this.#updateOf(memory, operation.rival);
        note(`${describeUpdate(one)}, raced by the other client: ${describeUpdate(two)}`);
        const clients = { store: client, other: rival };
        await about(sentences.expected, () =>
          expectOneWins("updates in a race", clients, memory, 0, [one, two]),
        );
        sent.push(one, two);
        break;
      }
      case "resend": {
        const update = sent[operation.pick % Math.max(1, sent.length)];
        // Sent again to an absent memory, a beginning begins it: two lives of one version, which core never makes.
        if (update === undefined || memory.model.version === null) return;
        const inPlace = memory.model.version === update.version;
        note(`sends an earlier update again, ${inPlace ? "still in place" : "of another version"}`);
        if (inPlace) await client.updateMessages(memory.id, update);
        else await memory.refused("an update of another version", "VERSION_CONFLICT", update, client);
        break;
      }
      case "known": {
        // Every other time the present version, where there is one; else one of those that were ever sent.
        const earlier = sent[operation.pick % Math.max(1, sent.length)]?.version ?? this.#context.unique();
        const known = (operation.pick % 2 === 0 ? memory.model.version : undefined) ?? earlier;
        note(`reads, and knows ${known === memory.model.version ? "the present" : "another"} version`);
        await memory.checkKnown("of a random version", known, client);
        return;
      }
      case "sweep":
        note("sweep");
        await client.sweep();
        break;
      case "delete":
        note("delete");
        await memory.delete(client);
        break;
      case "history": {
        if (!capabilities.history) return;
        const query = toQuery(operation.query);
        note(`history ${JSON.stringify(query)}`);
        await memory.checkHistory("of a random query", query, client);
        return;
      }
      case "list":
        if (!capabilities.list) return;
        note("lists the memories of each owner");
        await this.#list(client);
        return;
    }
    await memory.check("after an operation", rival);
  }

  async #list(client: ChatMemoryStore): Promise<void> {
    for (const owner of this.#owners) {
      const owned = this.#memories.filter(({ model }) => model.version !== null && model.owner === owner);
      await expectListed("the list of an owner", client, { owner }, owned);
    }
  }

  #updateOf(memory: TestMemory, change: AnyChange): MemoryUpdate {
    const { model } = memory;
    const owner = change.owner === 0 ? undefined : this.#owners[change.owner - 1];
    const kept = [...model.seqs("live"), ...model.seqs("evicted")];
    const replaced = new Map<number, string>();
    for (const { pick, payload } of change.replace) {
      const seq = kept[pick % Math.max(1, kept.length)];
      if (seq !== undefined) replaced.set(seq, payload);
    }
    const appended = change.append.map((_, index) => model.nextSeq + index);
    const states = new Map<number, MessageState>(model.all().map((row) => [row.seq, row.state]));
    for (const seq of appended) states.set(seq, "live");
    const seqs = [...states.keys()];
    const moved = new Map<number, MessageState | "removed">();
    for (const { pick, to } of change.move) {
      const seq = seqs[pick % Math.max(1, seqs.length)];
      if (seq !== undefined && states.get(seq) !== to) moved.set(seq, to);
    }
    const full: Change = {
      append: change.append.map((payload) => ({ payload })),
      replace: [...replaced].map(([seq, payload]) => ({ seq, payload })),
      move: [...moved].map(([seq, to]) => ({ seq, to })),
      head: change.head,
      data: change.data,
      owner,
      nextSeq: model.nextSeq + appended.length + change.gap,
    };
    return memory.update(full);
  }
}
