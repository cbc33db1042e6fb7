import fc from "fast-check";
import type { ModelMessageLike } from "../src/format/model-message.ts";
import { assistant, system, toolResult, user } from "../src/index.ts";

/** What happens next in a conversation. Calls are named by a number, so that results come in time, late, twice or never. */
export type ConversationEvent =
  | { readonly kind: "user" | "assistant" | "pinned"; readonly length: number }
  | { readonly kind: "system"; readonly which: number }
  | { readonly kind: "calls"; readonly calls: readonly number[]; readonly length: number }
  | { readonly kind: "results"; readonly calls: readonly number[]; readonly length: number };

const someCalls = { minLength: 1, maxLength: 3 } as const;
/** Calls of one message may share their id, and results of one message too. */
const callNumbers = fc.oneof(
  { weight: 3, arbitrary: fc.uniqueArray(fc.integer({ min: 1, max: 6 }), someCalls) },
  { weight: 1, arbitrary: fc.array(fc.integer({ min: 1, max: 3 }), someCalls) },
);
export const conversationEvent: fc.Arbitrary<ConversationEvent> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("user" as const), length: fc.nat(12) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("assistant" as const), length: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pinned" as const), length: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("system" as const), which: fc.nat(2) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("calls" as const), calls: callNumbers, length: fc.nat(8) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("results" as const), calls: callNumbers, length: fc.nat(20) }),
  },
);

/** A message that no other place of the conversation has. */
export function messageOf(event: ConversationEvent, index: number): ModelMessageLike {
  const text = (length: number): string => `${index}${".".repeat(length)}`;
  switch (event.kind) {
    case "user":
      return user(text(event.length));
    case "pinned":
      return user(`PIN${text(event.length)}`);
    case "assistant":
      return assistant(text(event.length));
    case "system":
      return system(`system ${event.which}`);
    case "calls":
      return assistant(
        event.calls.map((call) => ({
          type: "tool-call",
          toolCallId: `c${call}`,
          toolName: "t",
          input: text(event.length),
        })),
      );
    case "results":
      return {
        role: "tool",
        content: event.calls.flatMap((call) => toolResult(`c${call}`, "t", text(event.length)).content),
      };
  }
}
