import fc from "fast-check";
import { expect, test } from "vitest";
import {
  CallsById,
  hasOpenCalls,
  noAnswers,
  noCalls,
  openCalls,
  type Tally,
  tallyCalls,
  tallyResults,
} from "../src/steps/pairing.ts";

interface Named {
  readonly id: string;
  readonly tool: string | undefined;
}

type Event = { readonly calls: readonly Named[] } | { readonly result: Named };

const id = fc.constantFrom("a", "b");
const named = fc.record({ id, tool: fc.constantFrom("t", "u", undefined) });
/** What happens to calls of two ids, so that they meet often: an answer makes some, or a result comes. */
const events: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(
    fc.record({ calls: fc.array(named, { minLength: 1, maxLength: 3 }) }),
    fc.record({ result: named }),
  ),
  { maxLength: 20 },
);

interface Call extends Named {
  readonly answer: number;
  answered: boolean;
}

/** What the module's comment says, looked up among all calls so far. */
function callFor({ id, tool }: Named, calls: readonly Call[]): Call | undefined {
  const same = calls.filter((call) => call.id === id);
  const waiting = same.filter((call) => !call.answered);
  const own = waiting.filter((call) => tool !== undefined && call.tool === tool);
  const mayBe = own.length > 0 ? own : waiting;
  const newest = mayBe.at(-1)?.answer;
  return mayBe.find((call) => call.answer === newest) ?? same.at(-1);
}

test("each result goes to the call that the rule names", () => {
  fc.assert(
    fc.property(events, (all) => {
      const calls: Call[] = [];
      const paired = new CallsById<Call>();
      for (const [answer, event] of all.entries()) {
        if ("calls" in event) {
          const made = event.calls.map((call): Call => ({ ...call, answer, answered: false }));
          calls.push(...made);
          paired.askTogether(made.map((call) => [call.id, call, call.tool]));
          continue;
        }
        const { id, tool } = event.result;
        expect(paired.callOf(id)).toBe(callFor({ id, tool: undefined }, calls));
        const expected = callFor(event.result, calls);
        expect(paired.answer(id, tool)).toBe(expected);
        if (expected !== undefined) expected.answered = true;
      }
      const waiting = calls.filter(({ answered }) => !answered);
      expect(new Set(paired.waiting())).toEqual(new Set(waiting));
      expect([...paired.waiting()]).toHaveLength(waiting.length);
    }),
  );
});

test("a call that was answered elsewhere waits no longer, and one that has left is nobody's", () => {
  const calls = new CallsById<string>();
  for (const call of ["first", "second", "third"]) calls.ask("a", call);
  calls.settle("a", "third");
  expect(calls.callOf("a")).toBe("second");
  calls.forget("a", "second");
  expect(calls.take("a")).toBe("first");
  expect(calls.take("a")).toBeUndefined();
  expect(calls.callOf("a")).toBe("third");
  calls.forget("a", "third");
  calls.forget("a", "first");
  expect(calls.callOf("a")).toBeUndefined();
});

test("of calls that share an id, the first are those that the results answer", () => {
  const calls = ["a", "b", "a", "a"].map((callId, index) => ({ id: callId, index }));
  expect(openCalls(calls, [{ id: "a" }, { id: "c" }, { id: "a" }]).map(({ index }) => index)).toEqual([1, 3]);
});

test("an answer counts its calls and results in whatever order they come", () => {
  const steps = fc.array(fc.record({ kind: fc.constantFrom("call", "result", "late"), id }), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(steps, (added) => {
      const tally: Tally = { calls: noCalls, answers: noAnswers, unanswered: 0 };
      for (const { kind, id: callId } of added) {
        if (kind === "call") tallyCalls(tally, [{ id: callId, name: "t" }]);
        else tallyResults(tally, [{ id: callId }], kind === "late" ? [callId] : []);
      }
      const count = (kind: string, callId: string): number =>
        added.filter((one) => one.kind === kind && one.id === callId).length;
      const missing = ["a", "b"].map((callId) =>
        Math.max(0, count("call", callId) - count("result", callId)),
      );
      expect(tally.unanswered).toBe((missing[0] as number) + (missing[1] as number));
      const open = ["a", "b"].some(
        (callId) => count("call", callId) > count("result", callId) + count("late", callId),
      );
      expect(hasOpenCalls(tally)).toBe(open);
    }),
  );
});

test("what its provider runs is no call that waits", () => {
  const tally: Tally = { calls: noCalls, answers: noAnswers, unanswered: 0 };
  tallyCalls(tally, [{ id: "a", name: "t", providerExecuted: true }]);
  expect([tally.unanswered, hasOpenCalls(tally)]).toEqual([0, true]);
  tallyResults(tally, [{ id: "a" }]);
  expect([tally.unanswered, hasOpenCalls(tally)]).toEqual([0, false]);
});
