import { type ConformanceCase, inGroup } from "../case.ts";
import { quote } from "../support/brief.ts";
import { expectListed } from "../support/listed.ts";
import type { TestMemory } from "../support/memory.ts";
import { inPortions } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";

/** What a key may be joined by. */
const separators = [
  "",
  ":",
  "::",
  "/",
  "|",
  "#",
  "-",
  "_",
  ".",
  ",",
  ";",
  "~",
  "!",
  " ",
  "\t",
  "\n",
  "\u0001",
  "\u001f",
];

/** What a store may call the parts of a memory, or its lists, in a key. */
const parts = [
  "messages",
  "message",
  "history",
  "evicted",
  "live",
  "head",
  "meta",
  "seq",
  "owner",
  "owners",
  "index",
];

export const joinedIdsCases: readonly ConformanceCase[] = inGroup("ids", [
  {
    name: "a memory's id and a message's id that join to one text are apart",
    sentence: sentences.apart,
    async run(context) {
      await inPortions(separators, async (separator) => {
        const unique = context.unique();
        const one = context.memory(await context.claim(`${unique}a${separator}b`));
        const two = context.memory(await context.claim(`${unique}a`));
        const what = `where ids join by ${quote(separator)}`;
        for (const [memory, id] of [
          [one, "c"],
          [two, `b${separator}c`],
        ] as const) {
          await memory.commit({ append: [{ id, payload: `"${id}"` }, {}] });
        }
        await one.check(what);
        await one.commit({ replace: [{ seq: 1, payload: '"changed"' }] });
        await two.commit({ move: [{ seq: 1, to: "evicted" }] });
        for (const memory of [one, two]) {
          await memory.check(what);
          if (context.capabilities.history) {
            await memory.checkHistory(what, { ids: ["c", `b${separator}c`] });
          }
        }
        await two.delete();
        await one.check(`${what}, after the other was deleted`);
      });
    },
  },
  {
    name: "a memory's id and a seq that join to one text are apart",
    sentence: sentences.apart,
    async run(context) {
      const id = await context.claim(`${context.unique()}-1`);
      const [short, long] = [context.memory(id), context.memory(await context.claim(`${id}1`))];
      await short.commit({ append: [1, 2, 3, 11, 12, 13].map((seq) => ({ seq, payload: '"short"' })) });
      await long.commit({ append: [1, 2, 3].map((seq) => ({ seq, payload: '"long"' })) });
      await short.commit({ move: [{ seq: 12, to: "evicted" }] });
      await long.commit({ move: [{ seq: 3, to: "removed" }] });
      for (const memory of [short, long]) await memory.check("of an id that ends in a digit");
      await long.delete();
      await short.check("after a memory was deleted whose id is one digit longer");
    },
  },
  {
    name: "an owner and a memory's id that join to one text are apart",
    sentence: sentences.apart,
    requires: { list: true },
    async run(context) {
      await inPortions(separators, async (separator) => {
        const unique = context.unique();
        const owners = [`${unique}a${separator}b`, `${unique}a`] as const;
        const ids = [`c${unique}`, `b${separator}c${unique}`] as const;
        const expectLists = async (...wanted: (readonly TestMemory[])[]) => {
          const what = `an owner's list where ids join by ${quote(separator)}`;
          for (const [index, owner] of owners.entries()) {
            await expectListed(what, context.store, { owner }, wanted[index] ?? []);
          }
        };
        const [one, two] = [
          context.memory(await context.claim(ids[0])),
          context.memory(await context.claim(ids[1])),
        ];
        await one.commit({ append: 1, owner: owners[0] });
        await two.commit({ append: 1, owner: owners[1] });
        await expectLists([one], [two]);
        await two.delete();
        await expectLists([one], []);
      });
    },
  },
  {
    name: "a memory's id that another one's key may be is apart from it",
    sentence: sentences.apart,
    async run(context) {
      const unique = context.unique();
      const ids = [":", "/", "#", "."].flatMap((separator) =>
        parts.flatMap((part) => [`${unique}${separator}${part}`, `${part}${separator}${unique}`]),
      );
      const memories: TestMemory[] = [];
      for (const id of ids) memories.push(context.memory(await context.claim(id)));
      const plain = context.memory(await context.claim(unique));
      const begin = async (memory: TestMemory) => {
        await memory.commit({ append: [{ payload: quote(memory.id) }, {}], owner: unique });
        await memory.commit({ append: 1, head: quote(memory.id), move: [{ seq: 2, to: "evicted" }] });
      };
      await begin(plain);
      await inPortions(memories, begin);
      await inPortions(memories, async (memory) => memory.check(`of the id ${quote(memory.id)}`));
      await plain.check(`of the id ${quote(unique)}`);
      await plain.delete();
      await inPortions(memories, async (memory) =>
        memory.check(`of the id ${quote(memory.id)} after ${quote(unique)} was deleted`),
      );
    },
  },
  {
    name: "a memory, its owner, its messages and its version may have one name",
    sentence: sentences.apart,
    async run(context) {
      const name = context.unique();
      const memory = context.memory(await context.claim(name));
      const others = context.memory();
      await others.commit({ append: [{ id: name }], owner: name });
      const beginning = memory.update({ append: [{ id: name }, { id: others.id }], owner: name });
      await memory.send({ ...beginning, version: name });
      await memory.commit({ append: 1, move: [{ seq: 1, to: "evicted" }] });
      for (const each of [memory, others]) await each.check("of a name that stands for everything");
      const what = "the list of an owner who is called as a memory";
      await expectListed(what, context.store, { owner: name }, [memory, others]);
      await memory.delete();
      for (const each of [memory, others])
        await each.check("after the memory of an owner's name was deleted");
    },
  },
]);
