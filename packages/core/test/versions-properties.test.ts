import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  type ChatMemoryOptions,
  type ChatMemoryStore,
  createChatMemories,
  createChatMemory,
  inMemoryStore,
  type ModelMessage,
  system,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";

type Memory = ChatMemory<ModelMessage>;
type Policy = Pick<ChatMemoryOptions<ModelMessage>, "window" | "systemMessages">;

const kinds = [
  "ask",
  "step",
  "edit",
  "rewind",
  "restore",
  "restore",
  "remove",
  "prune",
  "set",
  "compact",
  "instruct",
  "say",
  "correct",
] as const;

interface Act {
  readonly kind: (typeof kinds)[number];
  readonly place: number;
  /** Which of two instances makes it. */
  readonly by: 0 | 1;
}

const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom(...kinds),
  place: fc.nat(30),
  by: fc.constantFrom(0, 1),
});

const policies: [string, Policy][] = [
  ["without a window", {}],
  ["of four messages in steps", { window: { maxMessages: 4, target: 0.5 } }],
  ["of four messages in turns", { window: { maxMessages: 4, unit: "turn", overflow: "keep" } }],
  ["of instructions that stay", { window: { maxMessages: 5 }, systemMessages: "positioned" }],
  [
    "with what is pinned",
    { window: { maxMessages: 4, pinned: ({ content }) => `${content}`.startsWith("keep") } },
  ],
];

/** What a conversation with branches is, without a store: what each message follows, and what is said at the moment. */
class Model {
  /** By id, in the order in which they were said. */
  readonly parents = new Map<string, string | null>();
  active: string[] = [];
  /** What was put in the place of others. */
  readonly texts = new Map<string, string>();
  /** Whether nothing was removed: versions are told by what they followed, also once that is gone. */
  isWhole = true;
  /** What the next one follows, after a rewind: what the one followed that was rewound to, be it superseded itself. */
  #next: string | null | undefined;

  add(ids: readonly string[], parent = this.#follows): void {
    this.#next = undefined;
    let before = parent;
    for (const id of ids) {
      this.parents.set(id, before);
      this.active.push(id);
      before = id;
    }
  }

  get #follows(): string | null {
    return this.#next === undefined ? (this.active.at(-1) ?? null) : this.#next;
  }

  rewind(id: string): void {
    this.#next = this.parents.get(id) ?? null;
    this.active = this.active.slice(0, this.active.indexOf(id));
  }

  restore(id: string): void {
    if (this.active.includes(id)) return;
    this.#next = undefined;
    const isOn = (other: string | null): boolean =>
      other !== null && (other === id || isOn(this.parents.get(other) ?? null));
    const last = [...this.parents.keys()].findLast(isOn);
    const parentOf = (other: string): string | null => this.parents.get(other) ?? null;
    const order = [...this.parents.keys()];
    const placeOf = (other: string | null): number => (other === null ? -1 : order.indexOf(other));
    let fork: string | null = id;
    while (fork !== null && !this.active.includes(fork)) fork = parentOf(fork);
    // What a set put in the place of something ends where the branch begins, also if what followed that had left before.
    const goesBack = (other: string): boolean =>
      placeOf(other) > placeOf(fork) && placeOf(parentOf(other)) < placeOf(fork);
    for (let each = this.active.find(goesBack); each !== undefined; each = this.active.find(goesBack))
      fork = parentOf(each);
    const branch: string[] = [];
    let each = last ?? null;
    for (; placeOf(each) > placeOf(fork); each = parentOf(each as string)) branch.unshift(each as string);
    this.active = [...this.active.filter((other) => placeOf(other) <= placeOf(fork)), ...branch];
  }

  /** What followed it follows what it followed. */
  remove(id: string): void {
    this.isWhole = false;
    const parent = this.parents.get(id) ?? null;
    this.parents.delete(id);
    if (this.#next === id) this.#next = parent;
    for (const [other, before] of this.parents) if (before === id) this.parents.set(other, parent);
    this.active = this.active.filter((other) => other !== id);
  }

  versions(id: string): string[] {
    const parent = this.parents.get(id);
    return [...this.parents.keys()].filter((other) => other !== id && this.parents.get(other) === parent);
  }
}

/** A store with pages so short that what a call looks for stands on their borders. */
function shortPages(store: ChatMemoryStore): ChatMemoryStore {
  return {
    ...store,
    getHistory: (memoryId, query, options) => {
      const limit = Math.min(query.limit ?? 100, 2);
      return store.getHistory(memoryId, query.ids ? query : { ...query, limit }, options);
    },
  };
}

async function make(
  memory: Memory,
  { kind, place }: Act,
  model: Model,
  count: number,
  store: ChatMemoryStore,
): Promise<void> {
  const all = [...model.parents.keys()];
  const any = all[place % (all.length || 1)];
  const said = model.active[place % (model.active.length || 1)];
  const words = place % 5 === 0 ? "keep" : `text ${count}`;
  switch (kind) {
    case "ask":
      return model.add(await memory.add(user(words)));
    case "step":
      return model.add(
        await memory.add(
          toolCall(`c${count}`, "t", {}),
          toolResult(`c${count}`, "t", "done"),
          assistant(words),
        ),
      );
    case "say": {
      const [id] = await memory.add(system(`system ${place % 3}`));
      const { messages } = await memory.history({ ids: [id], branches: true });
      // One that stays where it was said; the prompt stands apart.
      if (messages[0]?.parent !== undefined && !model.parents.has(id)) model.add([id]);
      return;
    }
    case "instruct":
      return void (await memory.instruct(system(`prompt ${place % 3}`)));
    case "edit":
      if (said === undefined) return;
      return memory.transaction((edit) => {
        edit.rewind(said);
        const ids = edit.add(user(words));
        model.rewind(said);
        model.add(ids, model.parents.get(said));
      });
    case "rewind":
      if (said === undefined) return;
      await memory.rewind(said);
      return model.rewind(said);
    case "restore":
      if (any === undefined) return;
      await memory.restore(any);
      return model.restore(any);
    case "remove":
      if (any === undefined) return;
      await memory.remove(any, { only: true });
      return model.remove(any);
    case "prune": {
      const memories = createChatMemories({ store });
      await memories.prune({ olderThanMs: 0, states: place % 2 === 0 ? ["superseded"] : ["evicted"] });
      const { messages } = await memory.history({ limit: 1000 });
      const left = new Set(messages.map(({ id }) => id));
      for (const id of all) if (!left.has(id)) model.remove(id);
      return;
    }
    case "compact": {
      if (said === undefined) return;
      // One reaches further already, or the message is an instruction.
      const refused = expect.stringMatching(/VERSION_CONFLICT|INVALID_OPTION/);
      const summary = memory.compact({ through: said, replacement: user("sum") });
      return void (await summary.catch((error) => expect(error).toMatchObject({ code: refused })));
    }
    case "set": {
      const live = new Set((await memory.entries()).map(({ id }) => id));
      const first = model.active.find((id) => live.has(id));
      const ids = await memory.set([user(words), assistant("ok")]);
      model.active = model.active.filter((id) => !live.has(id));
      return model.add(ids, first === undefined ? undefined : model.parents.get(first));
    }
    case "correct": {
      const [before] = (await memory.history({ ids: said === undefined ? [] : [said] })).messages;
      const { role, content } = before?.message ?? {};
      if (said === undefined || (role !== "user" && role !== "assistant") || typeof content !== "string")
        return;
      const shown = await memory.entries();
      model.texts.set(said, `${content}!`);
      await memory.put(said, role === "user" ? user(`${content}!`) : assistant(`${content}!`));
      // What has left memory stays there, and nothing moves for it.
      if (before?.state === "evicted") expect(await memory.entries()).toEqual(shown);
    }
  }
}

/** That what is stored is what the model says, but for system messages, which stand beside it. */
async function check(memory: Memory, model: Model, policy: Policy): Promise<void> {
  const { messages } = await memory.history({ limit: 1000, branches: true });
  const said = messages.filter(({ id }) => model.parents.has(id));
  expect(said.map(({ id }) => id)).toEqual([...model.parents.keys()]);
  // Whoever reads all of it finds what each message follows: that, or what is left before it.
  const leftBefore = (parent: number): string | null => said.findLast(({ seq }) => seq <= parent)?.id ?? null;
  expect(said.map(({ parent }) => leftBefore(parent as number))).toEqual([...model.parents.values()]);
  const active = said.filter(({ state }) => state !== "superseded").map(({ id }) => id);
  expect(active).toEqual(model.active);
  for (const { id, message } of [...said, ...(await memory.entries())])
    expect(message.content).toEqual(model.texts.get(id) ?? message.content);
  for (const { id, state } of said) {
    const others = await memory.versions(id);
    if (model.isWhole) expect(others.map((other) => other.id)).toEqual(model.versions(id));
    const listed = said.filter((other) => other.id !== id && other.parent === others[0]?.parent);
    // Once messages were removed, several that stand may seem to follow the same: the first is the version that stands.
    const standing =
      state === "superseded" ? listed.find((other) => other.state !== "superseded") : undefined;
    const wanted = listed.filter((other) => other.state === "superseded" || other === standing);
    if (others.length > 0) expect(others.map((other) => other.id)).toEqual(wanted.map((other) => other.id));
    if (state !== "superseded") expect(others.every((other) => other.state === "superseded")).toBe(true);
  }
  const live = (await memory.entries()).map(({ id }) => id).filter((id) => model.parents.has(id));
  expect(live).toEqual(active.filter((id) => live.includes(id)));
  // Never half a step. A result whose call was removed answers nothing, and does not come back once it has left.
  const calls = new Map<string, string>();
  const orphans = new Set<string>();
  for (const { id, state, message } of said) {
    if (state === "superseded" || typeof message.content === "string") continue;
    for (const part of message.content) {
      if (part.type === "tool-call") calls.set(part.toolCallId, id);
      if (part.type !== "tool-result") continue;
      const call = calls.get(part.toolCallId);
      if (call === undefined) orphans.add(id);
      else expect(live.includes(id)).toBe(live.includes(call));
    }
  }
  const { unit, pinned } = policy.window ?? {};
  if (unit === undefined && pinned === undefined) {
    const [shown, stands] = [live, active].map((ids) => ids.filter((id) => !orphans.has(id))) as [
      string[],
      string[],
    ];
    expect(shown).toEqual(stands.slice(stands.length - shown.length));
  }
}

const runs = { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 100) };

describe("versions and restore", () => {
  test.each(policies)("%s: are those of a tree of messages", async (_, policy) => {
    const property = fc.asyncProperty(fc.array(act, { maxLength: 14 }), async (acts) => {
      const store = shortPages(inMemoryStore());
      const memories = [0, 1].map(() => createChatMemory({ id: "m", store, ...policy }));
      const model = new Model();
      for (const [count, each] of acts.entries()) {
        await make(memories[each.by] as Memory, each, model, count, store);
      }
      await check(memories[0] as Memory, model, policy);
    });
    await fc.assert(property, runs);
  });
});
