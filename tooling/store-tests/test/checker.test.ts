import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { findFault } from "../src/checker.ts";
import type { Operation } from "../src/operations.ts";

type Call = Operation["call"];

const add = (...ids: string[]): Call => ({ kind: "add", ids });
const remove = (id: string): Call => ({ kind: "remove", id });
const read = (...seen: string[]): Call => ({ kind: "read", seen });
const clear: Call = { kind: "clear" };

/** An operation of a client of its own. */
function op(invoked: number, returned: number | undefined, call: Call): Operation {
  return { client: `client at ${invoked}`, call, invoked, returned };
}

describe("what an order explains", () => {
  test.each<[string, Operation[]]>([
    ["nothing", []],
    [
      "one after the other",
      [op(1, 2, add("a")), op(3, 4, read("a")), op(5, 6, add("b")), op(7, 8, read("a", "b"))],
    ],
    ["adds at once, in either order", [op(1, 4, add("a")), op(2, 3, add("b")), op(5, 6, read("a", "b"))]],
    ["adds at once, in the other order", [op(1, 4, add("a")), op(2, 3, add("b")), op(5, 6, read("b", "a"))]],
    ["a read beside an add that sees it", [op(1, 4, add("a")), op(2, 3, read("a"))]],
    ["a read beside an add that does not", [op(1, 4, add("a")), op(2, 3, read())]],
    ["an add without an answer that happened", [op(1, undefined, add("a")), op(9, 10, read("a"))]],
    ["one that happened later", [op(1, undefined, add("a")), op(2, 3, read()), op(4, 5, read("a"))]],
    ["one that never happened", [op(1, undefined, add("a")), op(9, 10, read())]],
    ["a removal", [op(1, 2, add("a")), op(3, 4, add("b")), op(5, 6, remove("a")), op(7, 8, read("b"))]],
    [
      "a removal without an answer",
      [op(1, 2, add("a")), op(3, undefined, remove("a")), op(4, 5, read("a")), op(6, 7, read())],
    ],
    [
      "an end and a new beginning",
      [op(1, 2, add("a")), op(3, 4, clear), op(5, 6, add("b")), op(7, 8, read("b"))],
    ],
    ["messages added together", [op(1, 4, add("a", "b")), op(2, 5, add("c")), op(6, 7, read("a", "b", "c"))]],
  ])("%s", (_, operations) => {
    expect(findFault(operations)).toBeUndefined();
  });
});

describe("what no order explains", () => {
  test.each<[string, Operation[], number, string]>([
    [
      "a lost message",
      [op(1, 2, add("a")), op(3, 4, add("b")), op(5, 6, read("b"))],
      5,
      "a, which was acknowledged before: it was lost",
    ],
    [
      "one that was seen and is lost",
      [op(1, undefined, add("a")), op(2, 3, read("a")), op(4, 5, read())],
      4,
      "order",
    ],
    ["a doubled message", [op(1, 2, add("a")), op(3, 4, read("a", "a"))], 3, "read a twice: it was doubled"],
    [
      "swapped messages",
      [op(1, 2, add("a")), op(3, 4, add("b")), op(5, 6, read("b", "a"))],
      5,
      "they were swapped",
    ],
    [
      "two reads that contradict each other",
      [op(1, 9, add("a")), op(2, 9, add("b")), op(10, 11, read("a", "b")), op(12, 13, read("b", "a"))],
      12,
      "they were swapped",
    ],
    [
      "a resurrected message",
      [op(1, 2, add("a")), op(3, 4, remove("a")), op(5, 6, read("a"))],
      5,
      "read a after it was removed: it was resurrected",
    ],
    [
      "one that outlives its memory",
      [op(1, 2, add("a")), op(3, 4, clear), op(5, 6, add("b")), op(7, 8, read("a", "b"))],
      7,
      "it was resurrected",
    ],
    [
      "a message from nowhere",
      [op(1, 2, add("a")), op(3, 4, read("a", "b"))],
      3,
      "b, which nobody had added",
    ],
    [
      "a message before it was added",
      [op(1, 2, read("a")), op(3, 4, add("a"))],
      1,
      "a, which nobody had added",
    ],
    [
      "half of what was added together",
      [op(1, 2, add("a", "b")), op(3, 4, read("a"))],
      3,
      "b, which was acknowledged before: it was lost",
    ],
    [
      "something between what was added together",
      [op(1, 9, add("a", "b")), op(1, 9, add("c")), op(10, 11, read("a", "c", "b"))],
      10,
      "they were swapped",
    ],
    [
      "a stale read",
      [op(1, 2, add("a")), op(3, 8, add("b")), op(4, 5, read("a", "b")), op(6, 7, read("a"))],
      6,
      "order",
    ],
  ])("%s", (_, operations, invoked, why) => {
    const fault = findFault(operations);
    expect(fault?.operation.invoked).toBe(invoked);
    expect(fault?.why).toContain(why);
  });
});

it("names the first of several faults", () => {
  const operations = [op(1, 2, add("a")), op(3, 4, read()), op(5, 6, read("a", "a")), op(7, 8, read("b"))];
  expect(findFault(operations)?.operation.invoked).toBe(3);
});

/** What several clients did at once to a list that is right: each operation happens at some moment between its ends. */
const histories: fc.Arbitrary<Operation[]> = fc
  .array(
    fc.record({
      wish: fc.constantFrom("add", "add", "add", "two", "remove", "read", "read"),
      before: fc.nat(40),
      after: fc.nat(40),
      answered: fc.boolean(),
      happens: fc.boolean(),
      pick: fc.nat(),
    }),
    { minLength: 5, maxLength: 40 },
  )
  .map((plans) => {
    let list: string[] = [];
    const operations: Operation[] = [];
    for (const [index, { wish, before, after, answered, happens, pick }] of plans.entries()) {
      const moment = 1_000 + index * 10;
      const [invoked, returned] = [moment - before - 0.1 * index, moment + after + 0.01 * index];
      const call: Call =
        wish === "add"
          ? add(`m${index}`)
          : wish === "two"
            ? add(`m${index}`, `n${index}`)
            : wish === "remove"
              ? remove(list[pick % Math.max(1, list.length)] ?? "nothing")
              : read(...list);
      const isRead = call.kind === "read";
      if (isRead || answered || happens) {
        if (call.kind === "add") list = [...list, ...call.ids];
        if (call.kind === "remove") list = list.filter((id) => id !== call.id);
      }
      operations.push(op(invoked, isRead || answered ? returned : undefined, call));
    }
    const end = 10_000;
    return [...operations, op(end, end + 1, read(...list))];
  });

function lastSeen(operations: readonly Operation[]): readonly string[] {
  const last = operations.at(-1)?.call;
  return last?.kind === "read" ? last.seen : [];
}

test("everything that a right list does is explained", () => {
  fc.assert(
    fc.property(histories, (operations) => {
      expect(findFault(operations)).toBeUndefined();
    }),
  );
});

test("a message that is doubled, lost though it was seen, swapped or resurrected at the end is found there", () => {
  fc.assert(
    fc.property(histories, fc.nat(), (operations, pick) => {
      const seen = lastSeen(operations);
      fc.pre(seen.length >= 2);
      const at = pick % (seen.length - 1);
      const [a, b] = [seen[at] as string, seen[at + 1] as string];
      const removals = operations.filter(({ call }) => call.kind === "remove");
      const idsOf = (some: readonly Operation[]): string[] =>
        some.flatMap(({ call }) => (call.kind === "remove" && call.id !== "nothing" ? [call.id] : []));
      const mayStillGo = idsOf(removals.filter(({ returned }) => returned === undefined));
      // An add without an answer may happen after its removal.
      const added = operations.flatMap(({ call, returned }) =>
        call.kind === "add" && returned !== undefined ? call.ids : [],
      );
      const removed = idsOf(removals.filter(({ returned }) => returned !== undefined));
      const gone = removed.filter((id) => added.includes(id));
      const wrong = [
        seen.toSpliced(at, 1, a, a),
        seen.toSpliced(at, 2, b, a),
        ...(mayStillGo.includes(a) ? [] : [seen.toSpliced(at, 1)]),
        ...gone.map((id) => [...seen, id]),
      ];
      for (const list of wrong) {
        const fault = findFault([...operations, op(20_000, 20_001, read(...list))]);
        expect(fault?.operation.invoked).toBe(20_000);
      }
    }),
  );
});
