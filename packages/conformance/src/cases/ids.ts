import type { ChatMemoryStore, MemoryUpdate } from "@turnkeep/core";
import { type ConformanceCase, inGroup } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { quote } from "../support/brief.ts";
import { expectCode, expectEqual } from "../support/expect.ts";
import { expectListed, listedIds, wholeList } from "../support/listed.ts";
import { inPortions } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";
import { alike, hostilePieces, reservedIds, sameDigest, sameHash } from "../support/texts.ts";

const emoji = "🙂";

export const idsCases: readonly ConformanceCase[] = inGroup("ids", [
  {
    name: "any id is a memory of its own",
    sentence: sentences.ids,
    async run(context) {
      const unique = context.unique();
      await expectApart(
        context,
        hostilePieces.flatMap((piece) => [`${piece}${unique}`, `${unique}${piece}`]),
      );
    },
  },
  {
    name: "ids with a meaning of their own are plain ids",
    sentence: sentences.ids,
    run: (context) => expectApart(context, reservedIds),
  },
  ...alike.map(([why, one, other]) => ({
    name: `memory ids that differ in ${why} are apart`,
    sentence: sentences.apart,
    async run(context: ConformanceContext) {
      const unique = context.unique();
      const ends = [one, other].map((end) => `${unique}${end}`);
      const starts = [one, other].map((start) => `${start}${unique}`);
      await expectApart(context, [...ends, ...starts]);
    },
  })),
  {
    name: "memory ids of 512 bytes are told apart by their last and first byte",
    sentence: sentences.ids,
    async run(context) {
      const unique = context.unique();
      const ascii = unique.padEnd(511, "x");
      const wide = `${unique.padEnd(64, "-")}${emoji.repeat(111)}`;
      const ids = [`${ascii}a`, `${ascii}b`, `a${ascii}`, `b${ascii}`, `${wide}🙂`, `${wide}🙃`, `🙃${wide}`];
      await expectApart(context, ids);
    },
  },
  {
    name: "a memory id that is not as described is refused by every method",
    sentence: sentences.ids,
    async run({ store, capabilities, unique }) {
      for (const [what, id] of badNames(unique(), 512)) {
        const refused = (method: string, call: () => Promise<unknown>) =>
          expectCode(`${method} with ${what}`, "INVALID_OPTION", call);
        await refused("getMessages", () => store.getMessages(id));
        await refused("updateMessages", () => store.updateMessages(id, emptyUpdate(unique())));
        await refused("deleteMessages", () => store.deleteMessages(id));
        if (capabilities.history) await refused("getHistory", () => store.getHistory(id, {}));
      }
      const forgotten = undefined as unknown as string;
      await expectCode("getMessages without an id", "INVALID_OPTION", () => store.getMessages(forgotten));
      await expectCode("updateMessages without an id", "INVALID_OPTION", () =>
        store.updateMessages(forgotten, emptyUpdate(unique())),
      );
      await expectCode("deleteMessages without an id", "INVALID_OPTION", () =>
        store.deleteMessages(forgotten),
      );
    },
  },
  {
    name: "any message id comes back as it was given",
    sentence: sentences.ids,
    async run(context) {
      const memory = context.memory();
      const ids = [
        ...hostilePieces,
        ...reservedIds,
        ...alike.flatMap(([, one, other]) => [`+${one}+`, `+${other}+`, `+${one}`, `+${other}`]),
        ...["a", "b"].map((end) => `${"x".repeat(255)}${end}`),
        `${"x".repeat(252)}${emoji}`,
        emoji.repeat(64),
      ];
      await memory.commit({ append: [...new Set(ids)].map((id) => ({ id })) });
      await memory.check("of messages with every kind of id");
    },
  },
  {
    name: "a message is found in history by exactly its id",
    sentence: sentences.byIds,
    requires: { history: true },
    async run(context) {
      const memory = context.memory();
      const pairs = alike.flatMap(([, one, other]) => [`=${one}=`, `=${other}=`, `=${one}`, `=${other}`]);
      const ids = [
        ...new Set([...pairs, ...hostilePieces, ...reservedIds, "x".repeat(256), emoji.repeat(64)]),
      ];
      await memory.commit({ append: ids.map((id) => ({ id })) });
      await memory.commit({ move: ids.slice(0, 20).map((_, index) => ({ seq: index + 1, to: "evicted" })) });
      for (const id of ids) await memory.checkHistory(`of the id ${shown(id)}`, { ids: [id] });
    },
  },
  {
    name: "a message id that is not as described is refused",
    sentence: sentences.ids,
    async run(context) {
      const { store } = context;
      const memory = context.memory();
      await memory.commit({ append: 1 });
      for (const [what, id] of badNames("m", 256)) {
        await memory.refused(
          `an append of a message with ${what}`,
          "INVALID_OPTION",
          memory.update({ append: [{ id }] }),
        );
        if (!context.capabilities.history) continue;
        await expectCode(`getHistory for ${what}`, "INVALID_OPTION", () =>
          store.getHistory(memory.id, { ids: [id] }),
        );
      }
      await memory.check("after appends with bad ids");
    },
  },
  {
    name: "any owner comes back as given and has a list of its own",
    sentence: sentences.ids,
    // A store without an index of owners, as `keyValueStore`, reads all memories for each.
    heavy: true,
    async run(context) {
      const unique = context.unique();
      const pairs = alike.flatMap(([, one, other]) => [`${unique}${one}`, `${unique}${other}`]);
      const hostile = hostilePieces.flatMap((piece) => [`${unique}${piece}`, `${piece}${unique}`]);
      const long = [unique.padEnd(511, "x"), `${unique}-`.padEnd(64, "-") + emoji.repeat(111)];
      const owners = [
        ...new Set([...pairs, ...hostile, ...long.flatMap((text) => [`${text}a`, `${text}b`])]),
      ];
      const memories = owners.map(() => context.memory());
      await inPortions(memories, (memory, index) => memory.commit({ append: 1, owner: owners[index] }));
      await inPortions(memories, async (memory) => {
        await memory.check("of a memory with such an owner");
        if (!context.capabilities.list) return;
        const { memories: found } = await context.store.listMemories({ owner: memory.model.owner });
        expectEqual(
          `the list of the owner ${shown(memory.model.owner ?? "")}`,
          found.map(({ memoryId, owner }) => [memoryId, owner]),
          [[memory.id, memory.model.owner]],
        );
      });
    },
  },
  {
    name: "ids with the same 32-bit hash are apart",
    sentence: sentences.apart,
    async run(context) {
      const unique = context.unique();
      const pairs = [
        ...sameHash.map(([hash, one, other]) => [hash, `${one}${unique}`, `${other}${unique}`] as const),
        ...sameDigest,
      ];
      for (const [hash, ...ids] of pairs) {
        const memories = await Promise.all(ids.map(async (id) => context.memory(await context.claim(id))));
        const what = `of two whose ids, and their owners, have the same 32 bits of a hash (${hash})`;
        for (const memory of memories)
          await memory.commit({ append: [{ payload: JSON.stringify(memory.id) }], owner: memory.id });
        for (const memory of memories) {
          await memory.check(what, context.other);
          await expectListed(`an owner's list ${what}`, context.store, { owner: memory.id }, [memory]);
        }
        await memories[0]?.delete();
        for (const memory of memories) await memory.check(`${what}, the first deleted`);
      }
    },
  },
  {
    name: "an owner with a meaning of its own is a plain owner",
    sentence: sentences.ofOwner,
    async run(context) {
      const nobodys = context.memory();
      await nobodys.commit({ append: 1 });
      for (const owner of reservedIds) {
        const memory = context.memory();
        await memory.commit({ append: 1, owner });
        await memory.check(`of a memory of the owner ${shown(owner)}`);
        if (!context.capabilities.list) continue;
        const listed = listedIds(await wholeList(context.store, { owner, limit: 1000 })).filter((id) =>
          [memory.id, nobodys.id].includes(id),
        );
        expectEqual(`which of two memories the owner ${shown(owner)} has`, listed, [memory.id]);
      }
    },
  },
  {
    name: "the longest names of a memory, its owner, a message and a version go together",
    sentence: sentences.ids,
    async run(context) {
      const { unique, capabilities } = context;
      for (const unit of ["x", "🙂"]) {
        const long = (bytes: number) => filled(unique(), unit, bytes);
        const owner = long(512);
        const one = context.memory(await context.claim(long(512)));
        const two = context.memory(await context.claim(long(512)));
        for (const memory of [one, two]) {
          const beginning = memory.update({ append: [{ id: long(256) }, { id: long(256) }], owner });
          await memory.send({ ...beginning, version: long(256) });
          await memory.commit({ append: 1, move: [{ seq: 1, to: "evicted" }] });
          await memory.check("under names that are as long as can be");
        }
        if (capabilities.history) {
          const ids = one.model.all().map(({ id }) => id);
          await one.checkHistory("of messages whose ids are as long as can be", { ids });
        }
        await expectListed("the list of such an owner", context.store, { owner }, [one, two]);
        await one.delete();
        await two.check("after another memory with the longest names was deleted");
      }
    },
  },
  {
    name: "an owner that is not as described is refused",
    sentence: sentences.ids,
    async run(context) {
      const { store } = context;
      const memory = context.memory();
      for (const [what, owner] of badNames(context.unique(), 512)) {
        await memory.refused(`an update with ${what} as owner`, "INVALID_OPTION", {
          ...memory.update({ append: 1 }),
          owner,
        });
        if (!context.capabilities.list) continue;
        await expectCode(`listMemories with ${what} as owner`, "INVALID_OPTION", () =>
          store.listMemories({ owner }),
        );
      }
      await memory.check("after updates with bad owners");
    },
  },
]);

/** Fails unless memories under these ids, alive at the same time, each hold what was written to them alone. */
async function expectApart(context: ConformanceContext, ids: readonly string[]): Promise<void> {
  const memories = await Promise.all(ids.map(async (id) => context.memory(await context.claim(id))));
  for (const [index, memory] of memories.entries()) {
    const before = await context.store.getMessages(memory.id);
    expectEqual(`version under the id ${shown(memory.id)}, before it begins`, before.version, null);
    await memory.commit({ append: [{ payload: `${index}` }, {}], head: `${index}` });
  }
  await inPortions(memories, (memory) => memory.commit({ append: 1, move: [{ seq: 2, to: "evicted" }] }));
  await inPortions(memories, (memory) => memory.check(`of the id ${shown(memory.id)}`, context.other));
  if (context.capabilities.list) await expectEachListed(context.store, ids);
  // Neighbours are deleted in different rounds, so that a delete that reaches too far shows.
  for (let round = 0; round < 3; round++) {
    const gone = memories.filter((_, index) => index % 3 === round);
    await inPortions(gone, (memory) => memory.delete());
    await inPortions(memories, (memory) =>
      memory.check(`of the id ${shown(memory.id)} after others were deleted`),
    );
    await inPortions(gone, (memory) => memory.commit({ append: 1 }));
  }
}

async function expectEachListed(store: ChatMemoryStore, ids: readonly string[]): Promise<void> {
  const listed = listedIds(await wholeList(store, { limit: 1000 }));
  for (const id of ids) {
    const times = listed.filter((other) => other === id).length;
    expectEqual(`how often the id ${shown(id)} is listed`, times, 1);
  }
}

/** A text of exactly so many UTF-8 bytes: a beginning of ASCII, then units of one kind, then what is left. */
function filled(beginning: string, unit: string, bytes: number): string {
  const left = bytes - beginning.length;
  const size = new TextEncoder().encode(unit).length;
  return `${beginning}${"-".repeat(left % size)}${unit.repeat(Math.floor(left / size))}`;
}

/** What is no id of at most so many bytes, in JavaScript too: an id that was forgotten must not be everybody's. */
function badNames(unique: string, most: number): readonly (readonly [what: string, name: string])[] {
  const noTexts = [null, 1, true, {}, []] as unknown[] as string[];
  return [
    ...noTexts.map((value) => [`${JSON.stringify(value)} instead of a text`, value] as const),
    ["an empty text", ""],
    [`a text of ${most + 1} bytes`, unique.padEnd(most + 1, "x")],
    [`a text of ${most + 2} bytes in ${most / 2 + 1} characters`, "é".repeat(most / 2 + 1)],
    ["a lone high surrogate", `${unique}\ud800`],
    ["a lone low surrogate", `\udc00${unique}`],
    ["a surrogate pair in the wrong order", `${unique}\udc00\ud800`],
    ["U+0000", `${unique}\u0000`],
    ["U+0000 in front", `\u0000${unique}`],
  ];
}

function emptyUpdate(version: string): MemoryUpdate {
  return { expected: null, version, nextSeq: 1, append: [], replace: [], move: [] };
}

function shown(id: string): string {
  const text = quote(id);
  return text.length > 60 ? `${text.slice(0, 30)}…${text.slice(-28)}` : text;
}
