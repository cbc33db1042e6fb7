import fc from "fast-check";
import { expect, test } from "vitest";
import { assistant, type ModelMessage, toolCall } from "../src/index.ts";
import { type Item, itemsOf } from "../src/steps/item.ts";
import { Live } from "../src/steps/live.ts";
import { isOpen } from "../src/steps/pairing.ts";
import { both, continued, formatWith, messages } from "./step-messages.ts";

type Act =
  | { readonly kind: "append"; readonly added: ModelMessage }
  | { readonly kind: "take out" | "take out its step"; readonly place: number }
  | { readonly kind: "replace"; readonly place: number; readonly added: ModelMessage };

/** Of a few messages only, so that they meet often. */
const acts = fc.shuffledSubarray(messages, { minLength: 2, maxLength: 5 }).chain((some) => {
  const added = fc.constantFrom(...some);
  const place = fc.nat(9);
  const act: fc.Arbitrary<Act> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("append" as const), added }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("take out its step" as const), place }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("take out" as const), place }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("replace" as const), place, added }) },
  );
  return fc.array(act, { maxLength: 25 });
});

/** What rarely comes about by chance. */
const rare = [
  sequence([toolCall("a", "t", {}), toolCall("b", "t", {}), assistant("!"), both], 2),
  sequence([toolCall("a", "t", {}), toolCall("a", "t", {}), continued, continued], 0),
];

/** Messages, then the step of one leaves. */
function sequence(added: readonly ModelMessage[], place: number): [Act[]] {
  const appended = added.map((message): Act => ({ kind: "append", added: message }));
  return [[...appended, { kind: "take out its step", place }]];
}

function shape(live: Live<ModelMessage>): unknown {
  return {
    items: live.items.map(({ seq }) => seq),
    steps: live.steps.map((step) => ({
      items: step.items.map(({ seq }) => seq),
      calls: [...step.calls].map(([id, { made }]) => `${id} ${made} ${isOpen(step, id)}`),
      answers: [...step.answers].map(([id, { results, inTime }]) => `${id} ${results} ${inTime}`),
      counts: [step.unanswered, step.callers],
      approvals: [...step.approvals.keys()],
      tokens: step.tokens,
      unsettled: live.unsettled.has(step),
    })),
    ids: [...live.byId.keys()].sort(),
    tokens: live.tokens,
    boundaries: live.boundaries,
  };
}

test.each([
  ["whole answers", false],
  ["answers in parts", true],
])("%s that come, leave and change are grouped as when they are read anew", (_, answersInParts) => {
  const reader = { format: formatWith(answersInParts), counter: undefined, pinned: undefined };
  const itemOf = (message: ModelMessage, seq: number): Item<ModelMessage> =>
    itemsOf([message], reader, seq)[0] as Item<ModelMessage>;
  fc.assert(
    fc.property(acts, (made) => {
      const live = new Live<ModelMessage>([], () => false);
      for (const [seq, next] of made.entries()) {
        if (next.kind === "append") {
          live.append(itemOf(next.added, seq));
          continue;
        }
        const item = live.items[next.place % live.items.length];
        if (item === undefined) continue;
        if (next.kind === "take out") live.remove(new Set([item]));
        if (next.kind === "take out its step") live.remove(new Set(live.stepOf(item).items));
        if (next.kind === "replace") live.replace(item, itemOf(next.added, item.seq));
        expect(shape(live)).toEqual(shape(live.copy()));
      }
    }),
    { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 500), examples: rare },
  );
});
