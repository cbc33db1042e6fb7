import type { ChatMemoryStore } from "@turnkeep/core";
import { type ConformanceCase, inGroup } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { expectErased, expectHeld } from "../support/erased.ts";
import { expectEqual, expectSettled, expectSnapshot, expectThat } from "../support/expect.ts";
import type { TestMemory } from "../support/memory.ts";
import { race } from "../support/races.ts";
import { sentences } from "../support/sentences.ts";

const methods = [
  "getMessages",
  "updateMessages",
  "deleteMessages",
  "getHistory",
  "listMemories",
  "sweep",
  "close",
  Symbol.asyncDispose,
] as const;

const booleans = ["durable", "shared", "history", "list", "ttl", "delta"] as const;

export const basicCases: readonly ConformanceCase[] = inGroup("basic", [
  {
    name: "every capability is declared",
    sentence: sentences.everyMethod,
    async run({ capabilities, other }) {
      for (const name of booleans) {
        expectEqual(`the type of capabilities.${name}`, typeof capabilities[name], "boolean");
      }
      const { readSteps, maxMessageBytes, maxMemoryBytes } = capabilities;
      expectThat("readSteps is 1 or 2", readSteps === 1 || readSteps === 2, readSteps);
      const enough = Number.isSafeInteger(maxMessageBytes) && maxMessageBytes >= 512 * 1024;
      expectThat("maxMessageBytes is a whole number of at least 524,288", enough, maxMessageBytes);
      const room = maxMemoryBytes ?? Number.MAX_SAFE_INTEGER;
      const enoughRoom = Number.isSafeInteger(room) && room >= Math.max(1024 * 1024, maxMessageBytes);
      expectThat(
        "maxMemoryBytes is absent or a whole number of at least 1,048,576 and maxMessageBytes",
        enoughRoom,
        maxMemoryBytes,
      );
      expectEqual("the capabilities of the second client", { ...other.capabilities }, { ...capabilities });
    },
  },
  {
    name: "every method is there",
    sentence: sentences.everyMethod,
    async run({ store }) {
      for (const name of methods) {
        expectEqual(`the type of the store's ${String(name)}`, typeof store[name], "function");
      }
    },
  },
  {
    name: "an unknown id is an empty snapshot",
    sentence: sentences.unknown,
    async run({ store, memoryId }) {
      const snapshot = await store.getMessages(memoryId());
      expectSnapshot("of an unknown id", snapshot, { version: null, nextSeq: 1, messages: [] });
    },
  },
  {
    name: "an append keeps every message as it was given",
    sentence: sentences.live,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 3 });
      await memory.check("after the first append");
      await memory.commit({ append: 2 });
      await memory.check("after the second append");
      await memory.commit({ append: 1 });
      await memory.check("after the third append");
    },
  },
  {
    name: "createdAt comes back to the millisecond",
    sentence: sentences.time,
    async run(context) {
      const memory = context.memory();
      const times = [0, 1, 999, 1_234_567_890_123, 4_102_444_800_001, 253_402_300_799_999];
      await memory.commit({ append: times.map((createdAt) => ({ createdAt })) });
      await memory.check("with times from 1970 to 9999");
    },
  },
  {
    name: "a memory may begin without messages",
    sentence: sentences.version,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ head: '{"system":1}' });
      await memory.check("of a memory without messages");
      await memory.commit({ append: 1 });
      await memory.check("after its first message");
    },
  },
  {
    name: "each update leaves its version in place",
    sentence: sentences.version,
    async run(context) {
      const memory = context.memory();
      for (const change of [
        { append: 1 },
        {},
        { head: "{}" },
        { data: "1" },
        { owner: "bob" },
        { replace: [{ seq: 1, payload: "2" }] },
      ]) {
        const { version } = await memory.commit(change);
        const snapshot = await context.store.getMessages(memory.id);
        expectEqual("version after an update", snapshot.version, version);
      }
    },
  },
  {
    name: "the head stays until an update brings another",
    sentence: sentences.head,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 1, head: '{"epoch":1}' });
      await memory.check("after a head was given");
      await memory.commit({ append: 1 });
      await memory.check("after an update without head");
      await memory.commit({ head: '{"epoch":2}' });
      await memory.check("after another head was given");
      await memory.commit({ head: "" });
      await memory.check("after a head that is an empty text was given");
    },
  },
  {
    name: "the data stay until an update brings others",
    sentence: sentences.data,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ data: '{"title":"🙂 \u2028"}' });
      await memory.check("of a memory that began with data alone");
      await memory.commit({ append: 2 });
      await memory.check("after an append without data");
      await memory.commit({ append: 1, move: [{ seq: 1, to: "evicted" }], head: "{}" });
      await memory.check("after an update without data");
      await memory.commit({ data: '{"title":"other"}' });
      await memory.check("after other data were given");
      await memory.checkKnown("by who knows the present version", memory.model.version ?? "");
      await memory.commit({ append: 1, data: "" });
      await memory.check("after data that are an empty text were given with an append");
      await memory.delete();
      await memory.commit({ append: 1 });
      await memory.check("of a memory that began again without data");
    },
  },
  {
    name: "the owner stays until an update names another",
    sentence: sentences.owner,
    async run(context) {
      const owned = context.memory();
      await owned.commit({ append: 1, owner: "alice" });
      await owned.check("after an owner was given");
      await owned.commit({ append: 1 });
      await owned.check("after an update without owner");
      await owned.commit({ append: 1, owner: "bob" });
      await owned.check("after an append with another owner");
      await owned.commit({ owner: "carol", move: [{ seq: 1, to: "evicted" }] });
      await owned.check("after an update with another owner");

      const nobodys = context.memory();
      await nobodys.commit({ append: 1 });
      await nobodys.commit({ owner: "alice" });
      await nobodys.check("of a memory that began without owner, and got one");
    },
  },
  {
    name: "a replaced message is as given, in its old place",
    sentence: sentences.replace,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 4 });
      await memory.commit({ replace: [{ seq: 2, payload: '"new"', meta: '{"tokens":9}' }] });
      await memory.check("after a replacement with payload and meta");
      await memory.commit({
        replace: [
          { seq: 2, payload: '"newer"' },
          { seq: 3, meta: "{}" },
        ],
      });
      await memory.check("after a replacement that drops one meta and adds another");
      await memory.commit({ replace: [{ seq: 4, createdAt: 1_600_000_000_001 }] });
      await memory.check("after a replacement with another createdAt");
    },
  },
  {
    name: "nextSeq is the one that the last update gave",
    sentence: sentences.position,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 2, nextSeq: 10 });
      await memory.check("after nextSeq ran ahead");
      await memory.commit({ append: 1, move: [{ seq: 10, to: "removed" }] });
      await memory.check("after the newest message was removed in its own update");
      await memory.commit({ move: [1, 2].map((seq) => ({ seq, to: "removed" })) });
      await memory.check("after every message was removed");
    },
  },
  {
    name: "a delete leaves nothing of the memory",
    sentence: sentences.delete,
    async run(context) {
      const memory = context.memory();
      const secret = context.unique();
      const said = { payload: `"${secret}"` };
      await memory.commit({ append: [said, said, {}], owner: "alice", head: "{}" });
      await memory.commit({ append: 1, move: [{ seq: 1, to: "evicted" }] });
      await expectDeleted("a delete", context, memory, secret);
    },
  },
  {
    name: "a delete leaves nothing of a long memory",
    sentence: sentences.delete,
    heavy: true,
    async run(context) {
      const memory = context.memory();
      const secret = context.unique();
      for (let round = 0; round < 3; round++) await memory.commit({ append: 400 });
      await memory.commit({
        append: [{ payload: `"${secret}"` }, { payload: `"${secret}${"-".repeat(300_000)}"` }],
        move: Array.from({ length: 300 }, (_, index) => ({ seq: 4 * index + 1, to: "evicted" })),
      });
      await memory.commit({
        append: [{ payload: `"${secret}${"+".repeat(300_000)}"` }],
        move: [{ seq: 1202, to: "evicted" }],
      });
      await expectDeleted("a delete of 1,203 messages", context, memory, secret);
    },
  },
  {
    name: "a delete of what is not there succeeds",
    sentence: sentences.delete,
    async run(context) {
      const memory = context.memory();
      await memory.delete();
      await memory.commit({ append: 1 });
      await memory.delete();
      await memory.delete();
      await memory.check("after two deletes");
      for (let round = 0; round < 6; round++) {
        await memory.commit({ append: 2, owner: context.unique() });
        const results = await race(
          round,
          () => context.store.deleteMessages(memory.id),
          () => context.other.deleteMessages(memory.id),
        );
        for (const result of results) expectSettled("one of two deletes at once", result);
        memory.model.delete();
        await memory.check("after two deletes at once");
      }
    },
  },
  {
    name: "one client sees at once what another wrote",
    sentence: sentences.shared,
    requires: { shared: true },
    async run(context) {
      const { store, other } = context;
      const { history } = context.capabilities;
      const memory = context.memory();
      for (let round = 0; round < 5; round++) {
        // A memory looks up by its id whether a message is there already: in what others wrote, too.
        const query = { ids: [memory.model.nextSeq, memory.model.nextSeq + 1].map((seq) => `m${seq}`) };
        const lookUp = async (what: string, client: ChatMemoryStore) => {
          if (history) await memory.checkHistory(what, query, client);
        };
        await lookUp("by ids, by the second client before the first wrote", other);
        await memory.commit({ append: 1 }, store);
        await memory.check("by the second client after the first wrote", other);
        await lookUp("by ids, by the second client after the first wrote", other);
        await lookUp("by ids, by the first client after it wrote", store);
        const move = [{ seq: memory.model.nextSeq - 1, to: "evicted" as const }];
        await memory.commit({ append: 1, head: `${round}`, move }, other);
        await memory.check("by the first client after the second wrote", store);
        await lookUp("by ids, by the first client after the second wrote", store);
      }
      await memory.delete(other);
      await memory.check("by the first client after the second deleted", store);
    },
  },
]);

/** Deletes a memory; fails unless nothing of it is left, for those who read, in the database, and for its next life. */
async function expectDeleted(
  what: string,
  context: ConformanceContext,
  memory: TestMemory,
  secret: string,
): Promise<void> {
  await expectHeld(context, memory, secret);
  await memory.delete();
  await memory.check(`after ${what}`);
  const erased = "the database holds no payload of a deleted memory, before any sweep";
  await expectErased(erased, context, memory, secret);
  await memory.commit({ append: 1 });
  await memory.check(`after ${what} and a new beginning`);
}
