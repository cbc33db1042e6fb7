import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { modelMessageFormat as format, type ModelMessageLike, user } from "../src/index.ts";
import { applyProcessors, tokenLimiter } from "../src/processors.ts";
import { conversation } from "./processors-support.ts";
import { characterCounter as counter } from "./window-reference.ts";

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
}

/** Messages of a conversation in which some are missing and some come later than they should. */
const disordered: fc.Arbitrary<ModelMessageLike[]> = fc
  .tuple(
    conversation,
    fc.array(fc.tuple(fc.nat(), fc.option(fc.nat(), { nil: undefined })), { maxLength: 4 }),
  )
  .map(([messages, changes]) => {
    const list = [...messages];
    for (const [from, to] of changes) {
      if (list.length === 0) break;
      const taken = list.splice(from % list.length, 1);
      if (to !== undefined) list.splice(to % (list.length + 1), 0, ...taken);
    }
    return frozen(list);
  });

const options = fc.record({
  limit: fc.integer({ min: 60, max: 900 }),
  unit: fc.constantFrom("step" as const, "turn" as const),
  target: fc.constantFrom(0.3, 0.7, 1),
});

describe("tokenLimiter over a list that grows", () => {
  test("answers as one that never saw it before", async () => {
    await fc.assert(
      fc.asyncProperty(
        disordered,
        options,
        fc.array(fc.tuple(fc.nat(6), fc.nat(20)), { minLength: 1, maxLength: 8 }),
        async (messages, chosen, cuts) => {
          const make = () => tokenLimiter({ ...chosen, counter, overflow: "keep" });
          const limiter = make();
          for (const [missing, length] of cuts) {
            // Longer or shorter than the list before, and often without one of the first messages.
            const list = messages.slice(0, length).filter((_, at) => at !== missing);
            const again = await applyProcessors(list, [limiter]);
            expect(again).toEqual(await applyProcessors(structuredClone(list), [make()]));
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test.each([10, 1_000])("after %i messages one more is asked about once", async (length) => {
    let asked = 0;
    const asking = {
      ...format,
      role: (message: ModelMessageLike) => {
        asked++;
        return format.role(message);
      },
    };
    const limiter = tokenLimiter({ limit: 200, counter });
    const said = (at: number): ModelMessageLike => frozen(user(`message ${at}`));
    const list = Array.from({ length }, (_, at) => said(at));
    await applyProcessors(list, [limiter], { format: asking });
    expect(asked).toBe(length);
    list.push(said(length));
    await applyProcessors(list, [limiter], { format: asking });
    expect(asked).toBe(length + 1);
  });

  test("sees what was changed in a message that is not frozen", () => {
    const limiter = tokenLimiter({ limit: 40, counter });
    const context = { format, signal: new AbortController().signal };
    const list = [user("one"), user("two")];
    expect(limiter.process(list, context)).toHaveLength(2);
    Object.assign(list[0] as object, { content: "long ".repeat(20) });
    expect(limiter.process(list, context)).toEqual([list[1]]);
  });
});
