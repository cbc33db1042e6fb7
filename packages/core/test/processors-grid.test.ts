import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  assistant,
  modelMessageFormat as format,
  type ModelMessage,
  type ModelMessageLike,
  system,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { beforeBorder, cutAt } from "../src/processors/border.ts";
import {
  applyProcessors,
  type Processor,
  stripMedia,
  stripReasoning,
  tokenLimiter,
  toolCallFilter,
} from "../src/processors.ts";
import { characterCounter as counter } from "./window-reference.ts";

/** How many of the messages that are shown at first are shown again, at the beginning, once more were added. */
function sharedBeginning(before: readonly unknown[], after: readonly unknown[]): number {
  let shared = 0;
  while (shared < before.length && before[shared] === after[shared]) shared++;
  return shared;
}

/** After which additions the beginning of what is shown was another one than before them. */
async function changes(
  conversation: readonly ModelMessageLike[],
  processor: Processor<ModelMessageLike>,
): Promise<number[]> {
  const messages = conversation.map((message) => Object.freeze(message));
  const moved: number[] = [];
  let before: readonly unknown[] = [];
  for (let length = 1; length <= messages.length; length++) {
    const shown = await applyProcessors(messages.slice(0, length), [processor]);
    const texts = shown.map((message) => JSON.stringify(message));
    if (sharedBeginning(before, texts) < before.length) moved.push(length);
    before = texts;
  }
  return moved;
}

describe("a border that moves on a grid", () => {
  test("leaves as many as asked for and less than a quarter more, and moves by a quarter at once", () => {
    fc.assert(
      fc.property(fc.nat(500), fc.nat(100), (count, keep) => {
        const before = beforeBorder(count, keep);
        const stride = Math.max(1, Math.ceil(keep / 4));
        expect(before % stride).toBe(0);
        if (count <= keep) expect(before).toBe(0);
        else {
          expect(count - before).toBeGreaterThanOrEqual(keep);
          expect(count - before).toBeLessThan(keep + stride);
        }
        expect(beforeBorder(count + 1, keep)).toBeGreaterThanOrEqual(before);
      }),
    );
  });

  test("leaves what fits; while steps are added the cut moves once a stride", () => {
    const steps = fc.array(fc.nat(60), { minLength: 1, maxLength: 80 });
    const sum = (some: readonly number[]): number => some.reduce((total, cost) => total + cost, 0);
    const mayBegin = (): boolean => true;
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 300 }), fc.nat(100), (costs, room, stride) => {
        const cuts = new Set<number>();
        const longest = Math.max(...costs);
        for (let length = 1; length <= costs.length; length++) {
          const list = costs.slice(0, length);
          const total = sum(list);
          const newestFirst = list.map((tokens, at) => ({ tokens, at })).reverse();
          const cut = total <= room ? 0 : cutAt({ newestFirst, total, mayBegin, room, stride })?.at;
          if (cut === undefined) {
            expect(list.at(-1)).toBeGreaterThan(room);
            continue;
          }
          const left = sum(list.slice(cut));
          expect(left).toBeLessThanOrEqual(room);
          if (cut > 0) expect(left).toBeGreaterThan(room - stride - longest);
          if (cut > 0 && stride === 0) expect(sum(list.slice(cut - 1))).toBeGreaterThan(room);
          cuts.add(cut);
        }
        if (stride > 0 && longest + stride <= room) {
          expect(cuts.size).toBeLessThanOrEqual(Math.ceil(sum(costs) / stride) + 1);
        }
      }),
    );
  });
});

test("a cut is looked for no further back than there is room", () => {
  let walked = 0;
  function* newestFirst(): Generator<{ readonly tokens: number }> {
    for (; walked < 10_000; walked++) yield { tokens: 5 };
  }
  const cut = { total: 50_000, mayBegin: () => true, room: 100, stride: 30 };
  expect(cutAt({ newestFirst: newestFirst(), ...cut })).toBeDefined();
  expect(walked).toBe(20);
});

describe("over a conversation that grows, the beginning of what is shown stays", () => {
  const turn = (index: number): ModelMessage[] => [
    user(`question ${index}`),
    toolCall(`call-${index}`, "read", { index }),
    toolResult(`call-${index}`, "read", "x".repeat(40)),
    assistant([
      { type: "reasoning", text: `thought ${index}` },
      { type: "text", text: `answer ${index}` },
      { type: "file", data: "AAAA", mediaType: "image/png" },
    ]),
  ];
  const conversation: ModelMessage[] = [
    system("Be brief."),
    ...Array.from({ length: 60 }, (_, index) => turn(index)).flat(),
  ];

  test("tokenLimiter moves its cut when a stride is full, and not before", async () => {
    const [system = 0, ...said] = conversation.map((message) => counter.count(message, format));
    const total = said.reduce((sum, cost) => sum + cost, 0);
    const room = Math.round(total / 3);
    const limit = room + system + (counter.base ?? 0);
    const often = await changes(conversation, tokenLimiter({ limit, counter, target: 1 }));
    const rarely = await changes(conversation, tokenLimiter({ limit, counter, target: 0.7 }));
    expect(often.length).toBeGreaterThan(80);
    const stride = Math.floor(room * 0.3);
    expect(rarely).toHaveLength(Math.ceil((total - room) / stride));
    // A stride of six turns, of four messages each.
    const gaps = rarely.slice(1).map((at, index) => at - (rarely[index] as number));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(20);
  });

  test.each<[string, (keepLastSteps: number) => Processor<ModelMessageLike>]>([
    ["toolCallFilter", (keepLastSteps) => toolCallFilter({ keepLastSteps })],
    ["stripMedia", (keepLastSteps) => stripMedia({ keepLastSteps })],
    ["stripReasoning", (keepLastSteps) => stripReasoning({ keepLastSteps })],
  ])("%s moves its border every fifth step of 20", async (_, make) => {
    const moved = await changes(conversation, make(20));
    expect(moved).toHaveLength(8);
    const turns = moved.map((length) => Math.ceil((length - 1) / 4));
    expect(turns).toEqual([25, 30, 35, 40, 45, 50, 55, 60]);
    expect(await changes(conversation, make(0))).toEqual([]);
  });
});
