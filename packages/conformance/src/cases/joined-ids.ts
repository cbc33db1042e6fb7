import { quote } from "../brief.ts";
import { type ConformanceCase, inGroup } from "../case.ts";
import { expectEqual } from "../expect.ts";
import { sentences } from "../sentences.ts";

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

export const joinedIdsCases: readonly ConformanceCase[] = inGroup("ids", [
  {
    name: "a memory's id and a message's id that join to one text are apart",
    sentence: sentences.apart,
    async run(context) {
      for (const separator of separators) {
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
      }
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
      for (const separator of separators) {
        const unique = context.unique();
        const owners = [`${unique}a${separator}b`, `${unique}a`] as const;
        const ids = [`c${unique}`, `b${separator}c${unique}`] as const;
        const expectLists = async (...wanted: (readonly string[])[]) => {
          for (const [index, owner] of owners.entries()) {
            const { memories } = await context.store.listMemories({ owner });
            expectEqual(
              `an owner's list where ids join by ${quote(separator)}`,
              memories.map(({ memoryId }) => memoryId),
              wanted[index],
            );
          }
        };
        const [one, two] = [
          context.memory(await context.claim(ids[0])),
          context.memory(await context.claim(ids[1])),
        ];
        await one.commit({ append: 1, owner: owners[0] });
        await two.commit({ append: 1, owner: owners[1] });
        await expectLists([ids[0]], [ids[1]]);
        await two.delete();
        await expectLists([ids[0]], []);
      }
    },
  },
]);
