import fc from "fast-check";
import { expect, test } from "vitest";
import { modelMessageFormat } from "../src/format/model-message-format.ts";
import { assistant, type ModelMessage, toolCall, toolResult, user } from "../src/index.ts";
import { type Item, itemsOf } from "../src/memory/item.ts";
import { Live } from "../src/memory/live.ts";

const callIds = ["a", "b"] as const;
const message: fc.Arbitrary<ModelMessage> = fc.oneof(
  fc.constant(user("?")),
  fc.constant(assistant("!")),
  fc.constantFrom(...callIds).map((id) => toolCall(id, "t", {})),
  fc.constantFrom(...callIds).map((id) => toolResult(id, "t", "r")),
  fc.constant<ModelMessage>({
    role: "tool",
    content: callIds.map((toolCallId) => ({
      type: "tool-result",
      toolCallId,
      toolName: "t",
      output: { type: "text", value: "r" },
    })),
  }),
  fc.constantFrom(...callIds).map(
    (id): ModelMessage => ({
      role: "assistant",
      content: [
        { type: "tool-result", toolCallId: id, toolName: "t", output: { type: "text", value: "r" } },
        { type: "text", text: "!" },
      ],
    }),
  ),
  fc.constantFrom(...callIds).map(
    (id): ModelMessage => ({
      role: "assistant",
      content: [
        { type: "tool-call", toolCallId: id, toolName: "t", input: {} },
        { type: "tool-approval-request", approvalId: `ask-${id}`, toolCallId: id },
      ],
    }),
  ),
  fc.constantFrom(...callIds).map(
    (id): ModelMessage => ({
      role: "tool",
      content: [{ type: "tool-approval-response", approvalId: `ask-${id}`, approved: true }],
    }),
  ),
);
const act = fc.oneof(
  { weight: 4, arbitrary: message.map((added) => ({ kind: "append" as const, added, place: 0 })) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("leave" as const), place: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), place: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("replace" as const), place: fc.nat(20), added: message }),
  },
);

function shape(live: Live<ModelMessage>): unknown {
  return {
    items: live.items.map(({ seq }) => seq),
    steps: live.steps.map((step) => ({
      items: step.items.map(({ seq }) => seq),
      calls: [...step.calls].map(([id, { answered }]) => `${id} ${answered}`),
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
  const reader = { format: { ...modelMessageFormat, answersInParts }, counter: undefined, pinned: undefined };
  fc.assert(
    fc.property(fc.array(act, { maxLength: 25 }), (acts) => {
      const live = new Live<ModelMessage>([], () => false);
      let seq = 0;
      for (const next of acts) {
        if (next.kind === "append") {
          const [item] = itemsOf([next.added], reader, ++seq);
          live.append(item as Item<ModelMessage>);
        } else {
          const item = live.items[next.place % (live.items.length || 1)];
          if (item === undefined) continue;
          if (next.kind === "leave") live.remove(new Set(live.stepOf(item).items));
          if (next.kind === "remove") live.remove(new Set([item]));
          if (next.kind === "replace")
            live.replace(item, itemsOf([next.added], reader, item.seq)[0] as Item<ModelMessage>);
        }
        expect(shape(live)).toEqual(shape(live.copy()));
      }
    }),
    { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 300) },
  );
});
