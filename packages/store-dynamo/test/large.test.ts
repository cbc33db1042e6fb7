import type { MemoryUpdate } from "@turnkeep/core";
import { changed, gate, liveOf, message, update } from "@turnkeep/store-tests";
import { describe, expect, test } from "vitest";
import { Life } from "../src/items.ts";
import { Table } from "../src/table.ts";
import { expectState, memoryId, span, to, useLarge } from "./large.ts";
import {
  canceled,
  dying,
  fault,
  type Item,
  interrupted,
  isRead,
  later,
  recording,
  sized,
  wrapped,
} from "./support.ts";

const { client, large, copied, open, expectClean, expectNothing, pausing } = useLarge();

function removes(): MemoryUpdate {
  return update(large().version, 134, { move: to("removed", ...span(1, 5), ...span(32, 130)) });
}

function replaces(): MemoryUpdate {
  const replace = [31, ...span(33, 132)].map((seq) => sized(seq, 300, "y"));
  return update(large().version, 134, { replace });
}

/** Of everything something. */
function mixes(): MemoryUpdate {
  return update(large().version, 136, {
    append: [sized(134, 40_000), message(135)],
    replace: [sized(31, 50_000, "y"), ...span(81, 132).map((seq) => sized(seq, 300, "y"))],
    move: [
      ...to("removed", ...span(1, 5), ...span(32, 80)),
      ...[...to("evicted", 131), ...to("superseded", 20, 132, 133), ...to("live", 7, 10)],
    ],
  });
}

/** After {@link mixes}: changes rows that it changed. */
function moreAfter({ version }: MemoryUpdate): MemoryUpdate {
  const replace = [81, 90, 130].map((seq) => sized(seq, 250, "z"));
  return update(version, 137, { append: [message(136)], replace, move: to("removed", 100, 131) });
}

interface Step {
  /** Which write of the update it is. */
  readonly step: number;
  readonly operation: string;
}

/** The writes of an update: of those that follow one another and are alike, the first and one in between. */
async function stepsOf(change: MemoryUpdate): Promise<Step[]> {
  const { client: recorded, sent } = recording(client);
  await open(await copied("steps/"), recorded).updateMessages(memoryId, change);
  const writes = sent.filter((command) => !isRead(command));
  const all = writes.map(({ operation }, index) => ({ step: index + 1, operation }));
  let first = 0;
  return all.filter(({ operation }, index) => {
    if (all[index - 1]?.operation !== operation) first = index;
    return index === first || index === first + 3;
  });
}

describe("an update of more rows than a transaction takes", () => {
  test.each([
    ["removes", removes],
    ["replaces", replaces],
    ["mixes", mixes],
  ])("that %s messages is carried out, once, and leaves nothing behind", async (name, make) => {
    const change = make();
    const prefix = await copied(`${name}/`);
    const store = open(prefix);
    await store.updateMessages(memoryId, change);
    const after = changed(large().before, change);
    await expectState(store, after);
    await expectClean(prefix, after);
    await store.updateMessages(memoryId, change);
    await open(prefix).updateMessages(memoryId, change);
    await expectState(store, after);
    await store.deleteMessages(memoryId);
    await expectNothing(prefix);
  });

  test("costs what the README says", async () => {
    const { client: recorded, sent, units } = recording(client);
    const store = open(await copied("costs/"), recorded);
    await store.getMessages(memoryId);
    sent.length = 0;
    units();
    const replace = span(33, 132).map((seq) => sized(seq, 300, "y"));
    const change = update(large().version, 134, { replace });
    await store.updateMessages(memoryId, change);
    expect(units()).toEqual({ read: 230, write: 305 });
    const names = sent.map(({ operation }) => operation);
    const count = (name: string): number => names.filter((one) => one === name).length;
    expect([...new Set(names)].map((name) => `${count(name)} ${name}`)).toEqual([
      ...["3 Query", "1 TransactGetItems", "101 PutItem", "8 BatchWriteItem", "1 TransactWriteItems"],
      ...["1 UpdateItem", "1 DeleteItem"],
    ]);
    // Nothing is left to do that the next update would have to ask for.
    sent.length = 0;
    await store.updateMessages(memoryId, update(change.version, 135, { append: [message(134)] }));
    expect(sent.map(({ operation }) => operation)).toEqual(["PutItem"]);
  });

  test("begins where a transaction is full", async () => {
    for (const more of [{ append: [sized(134, 40_000)] }, { replace: [message(31)] }]) {
      const sizes: number[] = [];
      for (const rows of [96, 97, 98]) {
        const prefix = await copied(`full ${Object.keys(more)} ${rows}/`);
        const { client: recorded, sent } = recording(client);
        const store = open(prefix, recorded);
        const move = to("removed", ...span(33, 32 + rows));
        const change = update(large().version, 135, { ...more, move });
        await store.updateMessages(memoryId, change);
        sizes.push(...sent.map(({ input: { TransactItems } }) => (TransactItems as unknown[])?.length ?? 0));
        expect((await store.getMessages(memoryId)).messages).toEqual(liveOf(changed(large().before, change)));
      }
      expect(Math.max(...sizes)).toBe(100);
    }
  });

  test("that brings them back reads them, and writes none of them", async () => {
    const prefix = await copied("back/");
    const { client: recorded, sent } = recording(client);
    const store = open(prefix, recorded);
    const all = span(33, 132);
    const leaves = update(large().version, 134, { move: to("evicted", ...all) });
    await store.updateMessages(memoryId, leaves);
    const back = update(leaves.version, 134, { move: to("live", ...all) });
    sent.length = 0;
    await store.updateMessages(memoryId, back);
    expect(sent.map(({ operation }) => operation)).toEqual([
      "Query",
      "TransactGetItems",
      "TransactWriteItems",
    ]);
    expect(sent.at(-1)?.input.TransactItems).toHaveLength(2);
    await expectState(store, changed(changed(large().before, leaves), back));
  });

  test("is there at once or not at all wherever the process dies; a sweep or the next update finishes it", async () => {
    const { before, version } = large();
    const change = mixes();
    const after = changed(before, change);
    const steps = await stepsOf(change);
    const commit = steps.findIndex(({ operation }) => operation === "TransactWriteItems");
    const [operations, rest] = [steps.map(({ operation }) => operation), commit + 1];
    expect(new Set(operations.slice(0, rest))).toEqual(
      new Set(["PutItem", "BatchWriteItem", "TransactWriteItems"]),
    );
    expect(new Set(operations.slice(rest))).toEqual(
      new Set(["PutItem", "DeleteItem", "UpdateItem", "BatchWriteItem"]),
    );
    // Every eighth death in the usual run, and those around the commit.
    const stride = process.env.TURNKEEP_THOROUGH ? 1 : 8;
    for (const [index, { step }] of steps.entries()) {
      if (index % stride !== 0 && Math.abs(index - commit) > 1) continue;
      const prefix = await copied(`dies ${step}/`);
      await open(prefix, dying(client, { step }))
        .updateMessages(memoryId, change)
        .catch(() => {});
      const store = open(prefix);
      let kept = index > commit ? after : before;
      await expectState(store, kept);
      if (index % 2 === 0) {
        const more = update(index > commit ? change.version : version, 137, { append: [message(136)] });
        await store.updateMessages(memoryId, more);
        kept = changed(kept, more);
      } else if (index > commit) {
        await store.updateMessages(memoryId, change);
      }
      await later(() => store.sweep());
      await expectState(store, kept);
      await expectClean(prefix, kept);
    }
  }, 300_000);

  test.each([
    ["its next update", false],
    ["a sweep, before its next update,", true],
  ])("that its writer could not finish, %s finishes", async (name, sweeps) => {
    const prefix = await copied(`unfinished ${name}/`);
    let isCommitted = false;
    let failures = 0;
    const failing = wrapped(client, async ({ operation }, send) => {
      if (isCommitted && operation === "PutItem" && failures++ === 0) throw new Error("No connection");
      const answer = await send();
      isCommitted ||= operation === "TransactWriteItems";
      return answer;
    });
    const store = open(prefix, failing);
    const change = mixes();
    await store.updateMessages(memoryId, change);
    expect(failures).toBeGreaterThan(0);
    if (sweeps) expect(await open(prefix).sweep()).toEqual({ removed: 1 });
    const more = moreAfter(change);
    await store.updateMessages(memoryId, more);
    const after = changed(changed(large().before, change), more);
    await expectState(open(prefix), after);
    await expectClean(prefix, after);
  });

  test("whose rows others are about to change waits until they take their places", async () => {
    const prefix = await copied("conflicts/");
    const asked = new Map<string, number>();
    const meeting = wrapped(client, async ({ operation }, send) => {
      const times = (asked.get(operation) ?? 0) + Number(asked.has("TransactWriteItems"));
      asked.set(operation, times);
      const isOne = operation === "PutItem" || operation === "DeleteItem" || operation === "UpdateItem";
      if (isOne && (times === 1 || times === 9)) throw fault("TransactionConflictException");
      return send();
    });
    const change = mixes();
    await open(prefix, meeting).updateMessages(memoryId, change);
    const after = changed(large().before, change);
    await expectState(open(prefix), after);
    await expectClean(prefix, after);
  });

  test("shows all of itself to who reads between its writes", async () => {
    const prefix = await copied("reads/");
    const change = mixes();
    const after = changed(large().before, change);
    const store = open(prefix);
    const looks: Promise<void>[] = [];
    let [writes, isCommitted] = [0, false];
    const observed = wrapped(client, async (command, send) => {
      const answer = await send();
      if (command.operation === "TransactWriteItems") isCommitted = true;
      if (isRead(command) || ++writes % 16 !== 0) return answer;
      looks.push(expectState(store, isCommitted ? after : large().before));
      await looks.at(-1);
      return answer;
    });
    await open(prefix, observed).updateMessages(memoryId, change);
    expect(await Promise.all(looks)).toHaveLength(Math.floor(writes / 16));
    expect(looks.length).toBeGreaterThan(6);
  });

  test("shows all of itself to who had read the head before", async () => {
    const prefix = await copied("head/");
    const change = mixes();
    const { client: paused, reached, go } = pausing(50);
    let writing: Promise<void> | undefined;
    const slow = interrupted(client, "GetItem", () => {
      writing = open(prefix, paused).updateMessages(memoryId, change);
      return reached;
    });
    const seen = await open(prefix, slow).getMessages(memoryId);
    expect(seen.messages).toEqual(liveOf(changed(large().before, change)));
    go();
    await writing;
  });

  test("costs nothing to who asks for a page of history that no row has a part in", async () => {
    const prefix = await copied("behind/");
    const { client: paused, reached, go } = pausing(1);
    const writing = open(prefix, paused).updateMessages(memoryId, mixes());
    await reached;
    const { client: recorded, sent } = recording(client);
    const store = open(prefix, recorded);
    await store.getHistory(memoryId, { after: 1_000 });
    await store.getHistory(memoryId, { states: [] });
    await store.getHistory(memoryId, { after: 50, before: 51 });
    expect(sent.map(({ operation }) => operation)).toEqual(["GetItem", "GetItem", "GetItem"]);
    go();
    await writing;
  });

  test.each(["getMessages", "getHistory"] as const)("does not hide a later one from %s", async (call) => {
    const prefix = await copied(`${call}/`);
    const change = mixes();
    const more = moreAfter(change);
    const last = changed(changed(large().before, change), more);
    const { client: paused, reached, go } = pausing(50);
    const writing = open(prefix, paused).updateMessages(memoryId, change);
    await reached;
    // The pending rows are read: all of them take their places, and some are replaced, before the rows are read.
    const slow = interrupted(client, "Query", async () => {
      go();
      await writing;
      await open(prefix).updateMessages(memoryId, more);
    });
    const { messages: seen } = await open(prefix, slow)[call](memoryId, { limit: 1_000 });
    const shown = call === "getMessages" ? liveOf(last) : last;
    expect(seen).toEqual(shown);
  });

  test.each([1, 50])("is not undone, nor undoes another, when it is slow from write %i on", async (step) => {
    const prefix = await copied(`slow ${step}/`);
    const change = mixes();
    const more = moreAfter(change);
    const last = changed(changed(large().before, change), more);
    const { client: paused, reached, go } = pausing(step);
    const writing = open(prefix, paused).updateMessages(memoryId, change);
    await reached;
    const store = open(prefix);
    await store.updateMessages(memoryId, more);
    await expectState(store, last);
    await store.sweep();
    go();
    await writing;
    await expectState(store, last);
    await store.sweep();
    await expectClean(prefix, last);
  });

  test("is laid over the rest though an earlier one, when it is slow, ends at last", async () => {
    const prefix = await copied("ends late/");
    const change = replaces();
    const replace = change.replace.map(({ seq }) => sized(seq, 300, "z"));
    const more = update(change.version, 134, { replace });
    const last = changed(changed(large().before, change), more);
    const [reached, going] = [gate(), gate()];
    const slow = wrapped(client, async (command, send) => {
      if (command.operation === "UpdateItem") {
        reached.open();
        await going.opened;
      }
      return send();
    });
    const writing = open(prefix, slow).updateMessages(memoryId, change);
    await reached.opened;
    // Committed, and its process dies before any of its rows takes its place.
    const { client: paused, reached: committed, go } = pausing(1);
    const writingMore = open(prefix, paused).updateMessages(memoryId, more);
    await committed;
    going.open();
    await writing;
    const store = open(prefix);
    await expectState(store, last);
    go();
    await writingMore;
    await store.sweep();
    await expectClean(prefix, last);
  });

  test("brings nothing back of a memory that is deleted meanwhile", async () => {
    const prefix = await copied("deleted/");
    const { client: paused, reached, go } = pausing(50);
    const writing = open(prefix, paused).updateMessages(memoryId, mixes());
    await reached;
    const store = open(prefix);
    await store.deleteMessages(memoryId);
    expect((await store.getMessages(memoryId)).version).toBeNull();
    await store.updateMessages(memoryId, update(null, 82, { append: [message(81)] }));
    go();
    await writing;
    expect((await store.getHistory(memoryId, {})).messages).toEqual([{ ...message(81), state: "live" }]);
    await store.deleteMessages(memoryId);
    await store.sweep();
    await expectNothing(prefix);
  });

  test("goes with a memory that expires meanwhile", async () => {
    const prefix = await copied("expired/");
    const { client: paused, reached } = pausing(50);
    const change = mixes();
    void open(prefix, paused, 1).updateMessages(memoryId, change);
    await reached;
    const store = open(prefix);
    expect((await store.getMessages(memoryId)).version).toBeNull();
    expect((await store.getHistory(memoryId, {})).messages).toEqual([]);
    await store.sweep();
    await expectNothing(prefix);
  });

  test("is finished by who finds its work item as it was before the commit", async () => {
    const prefix = await copied("before commit/");
    const change = mixes();
    const { client: paused, reached } = pausing(1);
    let staged: unknown;
    const writer = wrapped(paused, ({ operation, input }, send) => {
      if (operation === "PutItem") staged ??= { Item: input.Item };
      return send();
    });
    void open(prefix, writer).updateMessages(memoryId, change);
    await reached;
    // Each item of a transaction is applied by itself; meanwhile a plain read shows the old one, another kind none.
    let asked = 0;
    const early = wrapped(client, async ({ operation, input }, send) => {
      const { pk } = (input.Key ?? {}) as Item;
      if (operation === "TransactGetItems" && ++asked === 1) throw canceled("TransactionConflict");
      return operation === "GetItem" && pk?.S?.includes("all:") ? staged : send();
    });
    const more = moreAfter(change);
    await open(prefix, early).updateMessages(memoryId, more);
    const last = changed(changed(large().before, change), more);
    await expectState(open(prefix), last);
    await expectClean(prefix, last);
  });

  test("is refused when the rows it read were those before an update that it read in the head", async () => {
    const [prefix, old] = [await copied("half done/"), await copied("as it was/")];
    const store = open(prefix);
    const move = [...to("removed", 3), ...to("evicted", ...span(33, 132))];
    const more = update(large().version, 134, { move });
    await store.updateMessages(memoryId, more);
    const stale = wrapped(client, async ({ operation, input }, send) => {
      if (operation === "Query") {
        const values = input.ExpressionAttributeValues as Record<string, { S: string }>;
        values[":p"] = { S: `${old}memory:${memoryId}` };
      }
      return send();
    });
    /** The rows that are about to be changed cannot be asked for at once. */
    let asked = 0;
    const underWay = wrapped(stale, async ({ operation }, send) => {
      if (operation === "TransactGetItems" && ++asked % 3 !== 0) throw canceled("TransactionConflict");
      return send();
    });
    // Both read more rows than a transaction checks: the one changes them, the other does not.
    for (const change of [removes(), update(null, 134, { move: to("live", 1, ...span(33, 132)) })]) {
      const next = { ...change, expected: more.version };
      await expect(open(prefix, underWay).updateMessages(memoryId, next)).rejects.toMatchObject({
        code: "VERSION_CONFLICT",
      });
    }
    const kept = changed(large().before, more);
    await expectState(store, kept);
    await expectClean(prefix, kept);
  });
});

test("an update that marks messages in too many thousands is refused whole", async () => {
  const store = open("thousands/");
  const append = span(1, 100).map((n) => message(1_000 * n));
  const begin = update(null, 100_001, { append });
  await store.updateMessages(memoryId, begin);
  const all = append.map(({ seq }) => seq);
  const tooMany = update(begin.version, 100_001, { move: to("superseded", ...all) });
  await expect(store.updateMessages(memoryId, tooMany)).rejects.toMatchObject({
    code: "INVALID_OPTION",
    message: expect.stringContaining("101 items"),
  });
  expect(await store.getMessages(memoryId)).toMatchObject({ version: begin.version, messages: append });
  const fits = update(begin.version, 100_001, { move: to("superseded", ...all.slice(1)) });
  await store.updateMessages(memoryId, fits);
  expect((await store.getMessages(memoryId)).messages).toEqual(append.slice(0, 1));
});

test("a work item names so many rows in parts and no more", () => {
  const names = { tableName: "t", partitionKey: "pk", sortKey: "sk", ttlAttribute: "ttl", prefix: "" };
  const refuse = () => Promise.reject(new Error("This test asks no database"));
  const nobody = new Table({ run: refuse, pause: refuse }, names);
  const life = new Life(nobody, "m", "l");
  const work = (count: number) => {
    const prefixes = Array.from({ length: count }, (_, n) => life.partKey(n, "t").sort);
    return life.workItem({ token: "t", stage: "staging", updatedAt: 0, prefixes });
  };
  expect(String(work(4_000).values.prefixes).split(" ")).toHaveLength(4_000);
  expect(() => work(4_001)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
});
