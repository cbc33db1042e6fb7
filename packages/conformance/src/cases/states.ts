import type { MessageState } from "@turnkeep/core";
import { type ConformanceCase, inGroup } from "../case.ts";
import { expectErased, expectHeld } from "../support/erased.ts";
import type { Change } from "../support/memory.ts";
import { sentences } from "../support/sentences.ts";

export const statesCases: readonly ConformanceCase[] = inGroup("states", [
  {
    name: "what is evicted or superseded leaves memory",
    sentence: sentences.states,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 6 });
      await memory.commit({
        move: [
          { seq: 1, to: "evicted" },
          { seq: 4, to: "superseded" },
        ],
      });
      await memory.check("after one message was evicted and one superseded");
      await memory.commit({
        append: 1,
        move: [
          { seq: 6, to: "superseded" },
          { seq: 2, to: "evicted" },
        ],
      });
      await memory.check("after two more left");
    },
  },
  {
    name: "what leaves memory is kept with its state",
    sentence: sentences.keeps,
    requires: { history: true },
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 3 });
      await memory.commit({
        move: [
          { seq: 1, to: "evicted" },
          { seq: 2, to: "superseded" },
        ],
      });
      await memory.check("after one message was evicted and one superseded");
    },
  },
  {
    name: "what leaves a store without history is gone",
    sentence: sentences.keeps,
    requires: { history: false },
    async run(context) {
      const memory = context.memory();
      const secret = context.unique();
      await memory.commit({ append: [1, 2, 3].map((n) => ({ payload: `"${secret} ${n}"` })) });
      await expectHeld(context, memory, secret);
      const changes: Change[] = [
        {
          move: [
            { seq: 1, to: "evicted" },
            { seq: 2, to: "superseded" },
          ],
        },
        { append: [{ payload: `"${secret}"` }], move: [{ seq: 4, to: "evicted" }] },
        { replace: [{ seq: 3, payload: `"${secret}"` }], move: [{ seq: 3, to: "superseded" }] },
      ];
      for (const change of changes) {
        await memory.commit(change);
        await memory.check("after messages left");
      }
      await expectErased("the database holds nothing that left, before any sweep", context, memory, secret);
    },
  },
  {
    name: "what is removed is gone from memory and history",
    sentence: sentences.move,
    async run(context) {
      const memory = context.memory();
      const secret = context.unique();
      const large = `"${secret}${"-".repeat(300_000)}"`;
      await memory.commit({
        append: [{}, { payload: `"${secret}"` }, { payload: `"${secret} again"` }, {}, { payload: large }],
      });
      await expectHeld(context, memory, secret);
      await memory.commit({ append: 1, move: [{ seq: 5, to: "removed" }] });
      await memory.check("after a large message was removed");
      await memory.commit({ move: [{ seq: 2, to: "removed" }] });
      await memory.check("after a live message was removed");
      if (context.capabilities.history) {
        await memory.commit({ move: [{ seq: 3, to: "evicted" }] });
        await expectHeld(context, memory, secret);
        await memory.commit({ move: [{ seq: 3, to: "removed" }] });
        await memory.check("after an evicted message was removed");
      } else {
        await memory.commit({ move: [{ seq: 3, to: "removed" }] });
      }
      await expectErased(
        "the database holds nothing that was removed, before any sweep",
        context,
        memory,
        secret,
      );
    },
  },
  {
    name: "the id of a removed message is free again",
    sentence: sentences.move,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: ["a", "b", "c"].map((id) => ({ id })) });
      await memory.commit({ move: [{ seq: 2, to: "removed" }] });
      await memory.commit({ append: [{ id: "b", payload: '"again"' }], move: [{ seq: 3, to: "removed" }] });
      await memory.check("after the id of a removed message came again");
      await memory.commit({ append: [{ id: "c", payload: '"again"' }], move: [{ seq: 4, to: "removed" }] });
      await memory.check("after the id of another came again");
      await memory.commit({ append: [{ id: "c", payload: '"anew"' }], move: [{ seq: 5, to: "removed" }] });
      await memory.check("after an update has removed a message and appended one of its id");
      if (context.capabilities.history) await memory.checkHistory("of these ids", { ids: ["a", "b", "c"] });
    },
  },
  {
    name: "a message may be appended and moved in one update",
    sentence: sentences.move,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 2, move: [{ seq: 1, to: "evicted" }] });
      await memory.check("after a beginning of which one message is evicted");
      await memory.commit({
        append: 4,
        move: [
          { seq: 3, to: "evicted" },
          { seq: 4, to: "superseded" },
          { seq: 5, to: "removed" },
        ],
      });
      await memory.check("after an append of which three messages leave");
    },
  },
  {
    name: "a message may be replaced and moved in one update",
    sentence: sentences.move,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 5 });
      await memory.commit({
        replace: [1, 2, 3, 4].map((seq) => ({ seq, payload: `"final ${seq}"`, meta: `"m${seq}"` })),
        move: [
          { seq: 1, to: "evicted" },
          { seq: 2, to: "superseded" },
          { seq: 3, to: "removed" },
        ],
      });
      await memory.check("after an update that replaces four messages and moves three of them");
    },
  },
  {
    name: "a replacement by the same, and a move to where a message is, are a change like any other",
    sentence: sentences.agrees,
    async run(context) {
      const memory = context.memory();
      const { history } = context.capabilities;
      await memory.commit({ append: 3, head: "1" });
      await memory.commit({ replace: [{ seq: 1 }, { seq: 2 }], head: "1" });
      await memory.check("after two messages were replaced by the same");
      await memory.commit({ append: 1, move: [1, 4].map((seq) => ({ seq, to: "live" })) });
      await memory.check("after messages that are live were moved to live");
      for (const to of ["evicted", "superseded"] as const) {
        if (!history) break;
        for (let times = 0; times < 2; times++) {
          await memory.commit({ append: times, move: [{ seq: 2, to }] });
          await memory.check(`after a message was ${to}, ${times === 0 ? "once" : "twice"}`);
        }
      }
    },
  },
  {
    name: "a message may leave, come back and change its state again",
    sentence: sentences.backToLive,
    requires: { history: true },
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 4 });
      const ways = ["evicted", "live", "superseded", "evicted", "superseded", "live", "evicted", "removed"];
      for (const to of ways) {
        await memory.commit({ move: [{ seq: 2, to: to as "live" }] });
        await memory.check(`after seq 2 became ${to}`);
      }
    },
  },
  {
    name: "a message that came back can be replaced",
    sentence: sentences.replace,
    requires: { history: true },
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 3 });
      await memory.commit({ move: [1, 2].map((seq) => ({ seq, to: "superseded" })) });
      await memory.commit({ append: 1, move: [1, 2].map((seq) => ({ seq, to: "live" })) });
      await memory.commit({ replace: [{ seq: 1, payload: '"changed"' }], move: [{ seq: 2, to: "evicted" }] });
      await memory.check("after a message that came back was replaced");
    },
  },
  {
    name: "a memory of which everything left is still there",
    sentence: sentences.absent,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 3, owner: "alice", head: "1" });
      await memory.commit({ move: [1, 2, 3].map((seq) => ({ seq, to: "evicted" })) });
      await memory.check("after every message was evicted");
      await memory.commit({ append: 1 });
      await memory.check("after one came");
    },
  },
  {
    name: "several hundred messages may move in one update",
    sentence: sentences.atomic,
    heavy: true,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 600 });
      const to = ["evicted", "superseded", "removed"] as const;
      const move = Array.from({ length: 500 }, (_, index) => ({
        seq: index + 1,
        to: to[index % 3] ?? "evicted",
      }));
      await memory.commit({ append: 1, move });
      await memory.check("after 500 messages moved");
      if (context.capabilities.history) {
        await memory.checkHistory("of 434 messages", { limit: 1000 });
      }
    },
  },
  {
    name: "several hundred messages may come back, and be removed from history, in one update",
    sentence: sentences.atomic,
    requires: { history: true },
    heavy: true,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 600 });
      const seqs = Array.from({ length: 500 }, (_, index) => index + 1);
      const all = (to: MessageState | "removed", from = seqs) => from.map((seq) => ({ seq, to }));
      await memory.commit({ move: all("evicted") });
      await memory.commit({ append: 1, move: all("live") });
      await memory.check("after 500 messages came back");
      await memory.commit({
        move: [...all("evicted", seqs.slice(0, 250)), ...all("superseded", seqs.slice(250))],
      });
      await memory.commit({ append: 1, move: all("removed", seqs.slice(100)) });
      await memory.check("after 400 messages were removed from history");
      await memory.checkHistory("of what is left", { limit: 1000 });
    },
  },
]);
