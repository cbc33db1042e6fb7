import { type ConformanceCase, inGroup } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { expectEqual } from "../support/expect.ts";
import { expectUnlisted } from "../support/listed.ts";
import type { TestMemory } from "../support/memory.ts";
import { sentences } from "../support/sentences.ts";

const megabyte = 1024 * 1024;
/** What a store must not limit for a few messages of 1 MB, and for so many: quotes and positions take some room too. */
const megabytes = (count: number) => ({
  maxMessageBytes: megabyte,
  maxMemoryBytes: Math.ceil(1.5 * count) * megabyte,
});
/** What a case can still make and send. */
const mostBytes = 64 * 1024 * 1024;

export const sizesCases: readonly ConformanceCase[] = inGroup("sizes", [
  {
    name: "a message of 1 MB works in every state",
    sentence: sentences.oneMegabyte,
    requires: { atLeast: megabytes(3) },
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: [{ payload: filled("a", megabyte) }, {}] });
      await memory.check("after a message of 1 MB was appended");
      await lookUp(context, memory, "after a message of 1 MB was appended", [1]);
      await memory.commit({ append: 1, replace: [{ seq: 2, payload: filled("b", megabyte) }] });
      await memory.check("after a small message was replaced by one of 1 MB");
      await lookUp(context, memory, "after a small message was replaced by one of 1 MB", [2, 3]);
      await memory.commit({ move: [{ seq: 1, to: "evicted" }] });
      await memory.check("after a message of 1 MB was evicted");
      await lookUp(context, memory, "after a message of 1 MB was evicted", [1, 2]);
      if (context.capabilities.history) {
        await memory.commit({ move: [{ seq: 1, to: "live" }] });
        await memory.check("after a message of 1 MB came back");
      }
      await memory.commit({
        append: [withMeta("c")],
        move: [{ seq: 2, to: "removed" }],
      });
      await memory.check("after a message of 1 MB was removed");
      await memory.commit({ replace: [{ seq: 4, payload: '"small"' }] });
      await memory.check("after a message of 1 MB was replaced by a small one");
      await memory.commit({ append: 1, move: [{ seq: 4, to: "evicted" }] });
      await memory.check("after what had replaced a message of 1 MB was evicted");
      await lookUp(context, memory, "after what had replaced a message of 1 MB was evicted", [4, 5]);
    },
  },
  {
    name: "1 MB of characters of several bytes works",
    sentence: sentences.oneMegabyte,
    requires: { atLeast: megabytes(2) },
    async run(context) {
      const memory = context.memory();
      await memory.commit({
        append: [withMeta("é"), withMeta("🙂")],
      });
      await memory.check("of messages of 1 MB in characters of two and four bytes");
    },
  },
  {
    name: "a meta of 1 MB works",
    sentence: sentences.oneMegabyte,
    requires: { atLeast: megabytes(1) },
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: [{ payload: "1", meta: filled("m", megabyte - 1) }] });
      await memory.check("of a message with a meta of 1 MB");
    },
  },
  {
    name: "a hundred messages of 1 MB live at once",
    sentence: sentences.oneMegabyte,
    requires: { atLeast: megabytes(100) },
    heavy: true,
    async run(context) {
      const memory = context.memory();
      for (let tens = 0; tens < 10; tens++) {
        await memory.commit({
          append: Array.from({ length: 10 }, (_, index) => withMeta(`${tens}${index}-`)),
        });
      }
      const { messages, version } = await context.other.getMessages(memory.id);
      expectEqual("version", version, memory.model.version);
      expectEqual("the number of live messages of 1 MB", messages.length, 100);
      const expected = memory.model.snapshot().messages;
      for (const [index, { payload, seq }] of messages.entries()) {
        expectEqual(`payload of seq ${seq}`, payload, expected[index]?.payload);
      }
      const left = memory.model.seqs("live").slice(0, 20);
      await memory.commit({ move: left.map((seq) => ({ seq, to: "evicted" })) });
      if (!context.capabilities.history) return;
      await memory.checkHistory("of 20 messages of 1 MB that left, one a page", {
        states: ["evicted"],
        limit: 1,
      });
    },
  },
  {
    name: "a page of history holds twenty messages of 1 MB",
    sentence: sentences.historyPage,
    requires: { history: true, atLeast: megabytes(20) },
    heavy: true,
    async run(context) {
      const memory = context.memory();
      const ten = (unit: string) => Array.from({ length: 10 }, () => withMeta(unit));
      await memory.commit({ append: ten("a") });
      const move = memory.model.seqs("live").map((seq) => ({ seq, to: "evicted" as const }));
      await memory.commit({ append: ten("b"), move });
      await memory.checkHistory("of 20 messages of 1 MB", {});
      await memory.checkHistory("of 20 messages of 1 MB, newest first", { order: "descending" });
    },
  },
  {
    name: "a message of exactly maxMessageBytes works",
    sentence: sentences.largest,
    requires: { maxMessageBytes: mostBytes },
    heavy: true,
    async run(context) {
      const { maxMessageBytes, history } = context.capabilities;
      // A database may count in what it keeps beside the message: names, and where the message stands.
      const memory = context.memory(await context.claim(context.unique().padEnd(512, "x")));
      const largest = (unit: string) => ({ payload: filled(unit, maxMessageBytes - 2), meta: "{}" });
      const owner = context.unique().padEnd(512, "x");
      await memory.commit({ append: [{ id: "i".repeat(256), ...largest("x") }], owner });
      await memory.check(`of a message of ${maxMessageBytes} bytes`);
      await memory.commit({ replace: [{ seq: 1, ...largest("y") }] });
      // Where there is a history, it shows below what has come in its place.
      if (!history) await memory.check(`after a message of ${maxMessageBytes} bytes was replaced by another`);
      await memory.commit({ move: [{ seq: 1, to: "evicted" }] });
      await memory.check(`after a message of ${maxMessageBytes} bytes was replaced and evicted`);
      if (!history) return;
      await memory.commit({ move: [{ seq: 1, to: "live" }] });
      await memory.check(`after a message of ${maxMessageBytes} bytes came back`);
    },
  },
  {
    name: "a message above maxMessageBytes is refused before anything is written",
    sentence: sentences.tooLarge,
    requires: { maxMessageBytes: mostBytes },
    async run(context) {
      const { maxMessageBytes } = context.capabilities;
      const memory = context.memory();
      await refuse(context, { payload: filled("x", maxMessageBytes + 1) });
      await memory.commit({ append: 2, head: "1" });
      for (const over of [
        { payload: filled("x", maxMessageBytes + 1) },
        { payload: filled("x", maxMessageBytes - 1), meta: "{}" },
        { payload: "1", meta: filled("x", maxMessageBytes) },
      ]) {
        const append = memory.update({ append: [{}, over], head: "2", move: [{ seq: 1, to: "removed" }] });
        const replace = memory.update({ append: 1, replace: [{ seq: 1, ...over }], head: "2" });
        for (const update of [append, replace]) {
          await memory.refused("an update with a message above maxMessageBytes", "MESSAGE_TOO_LARGE", update);
          await memory.check("after a message above maxMessageBytes");
        }
      }
    },
  },
  {
    name: "a full memory says so before anything is written, and goes on once there is room",
    sentence: sentences.memoryFull,
    requires: { maxMemoryBytes: mostBytes },
    heavy: true,
    async run(context) {
      const { maxMemoryBytes = 0 } = context.capabilities;
      const memory = context.memory();
      const piece = 64 * 1024;
      const pieces = Math.ceil(maxMemoryBytes / piece);
      const another = (head: string) => memory.update({ append: [{ payload: filled("x", piece) }], head });
      // A store may count in what it keeps beside the messages, but not as much as they are.
      const fits = Math.floor(pieces / 2);
      for (let count = 0; count < fits; count++) await memory.send(another("1"));
      for (let count = fits; count < pieces && (await memory.takes(another("1"), "MEMORY_FULL")); count++);
      await memory.refused("an update of a full memory", "MEMORY_FULL", another("2"));
      await memory.check("after an update of a full memory");
      const move = [1, 2].map((seq) => ({ seq, to: "removed" as const }));
      await memory.commit({ append: [{ payload: filled("y", piece) }], move });
      await memory.check("after a full memory was given room");
    },
  },
  {
    name: "maxMessageBytes counts bytes, not characters",
    sentence: sentences.largest,
    requires: { maxMessageBytes: mostBytes },
    async run(context) {
      const { maxMessageBytes } = context.capabilities;
      await refuse(context, { payload: filled("é", maxMessageBytes + 1) });
      await refuse(context, { payload: filled("🙂", maxMessageBytes + 1) });
    },
  },
  {
    name: "data of 8 KB work, more are refused",
    sentence: sentences.dataSize,
    async run(context) {
      const memory = context.memory();
      for (const character of ["a", "é", "🙂"]) {
        await memory.commit({
          append: 1,
          data: filled(character, 8 * 1024),
          head: filled(character, 16 * 1024),
        });
        await memory.check("with data of 8 KB");
        const update = memory.update({ data: filled(character, 8 * 1024 + 1) });
        await memory.refused("an update with data above 8 KB", "INVALID_OPTION", update);
      }
      await memory.check("after data above 8 KB");
      await memory.commit({ append: 1 });
      await memory.check("after an append to a memory with data of 8 KB");
    },
  },
  {
    name: "a head of 16 KB works, a larger one is refused",
    sentence: sentences.headSize,
    async run(context) {
      const memory = context.memory();
      for (const character of ["h", "é"]) {
        await memory.commit({ append: 1, head: filled(character, 16 * 1024) });
        await memory.check("with a head of 16 KB");
        const update = memory.update({ append: 1, head: filled(character, 16 * 1024 + 1) });
        await memory.refused("an update with a head above 16 KB", "INVALID_OPTION", update);
      }
      await memory.check("after a head above 16 KB");
    },
  },
  {
    name: "five thousand messages live at once, a thousand come and all leave in one update",
    sentence: sentences.atomic,
    heavy: true,
    async run(context) {
      const memory = context.memory();
      for (let thousands = 0; thousands < 5; thousands++) await memory.commit({ append: 1000 });
      await supersedeAll(memory, "5,000");
    },
  },
  {
    name: "twelve thousand messages come in one update, live at once, and all leave in one",
    sentence: sentences.anyNumber,
    requires: { atLeast: megabytes(3) },
    heavy: true,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 12_000 });
      await supersedeAll(memory, "12,000");
    },
  },
]);

async function refuse(context: ConformanceContext, over: { payload: string }): Promise<void> {
  const memory = context.memory();
  const owner = context.unique();
  await memory.refused(
    "a beginning with a message above maxMessageBytes",
    "MESSAGE_TOO_LARGE",
    memory.update({ append: [{}, over], owner }),
  );
  await memory.check("after a beginning that was refused");
  await expectUnlisted("after a beginning that was refused", context.store, owner, memory);
}

/** Supersedes so many live messages in one update, which must be there before it. */
async function supersedeAll(memory: TestMemory, count: string): Promise<void> {
  await memory.check(`of ${count} live messages`);
  const live = memory.model.seqs("live");
  await memory.commit({ append: 2, move: live.map((seq) => ({ seq, to: "superseded" })) });
  await memory.check(`after ${count} messages were superseded`);
}

/** The other ways to messages by these seqs: by their ids, and from the newest on. */
async function lookUp(
  context: ConformanceContext,
  memory: TestMemory,
  what: string,
  seqs: readonly number[],
): Promise<void> {
  if (!context.capabilities.history) return;
  await memory.checkHistory(`by ids, ${what}`, { ids: seqs.map((seq) => `m${seq}`) });
  await memory.checkHistory(`newest first, ${what}`, { order: "descending" });
}

/** A message of 1 MB, its meta counted in: `maxMessageBytes` may be no more. */
function withMeta(unit: string): { payload: string; meta: string } {
  return { payload: filled(unit, megabyte - 2), meta: "{}" };
}

/** A JSON text of exactly so many UTF-8 bytes, made of `unit`. */
function filled(unit: string, bytes: number): string {
  const size = new TextEncoder().encode(unit).length;
  const times = Math.floor((bytes - 2) / size);
  return `"${unit.repeat(times)}${"-".repeat(bytes - 2 - times * size)}"`;
}
