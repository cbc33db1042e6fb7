import {
  assistant,
  type ChatMemory,
  createChatMemory,
  modelMessageFormat as format,
  inMemoryStore,
  type ModelMessage,
  type ModelMessageLike,
  type Piece,
  toolCall,
  toolResult,
  user,
} from "@turnkeep/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { validate } from "../src/profiles.ts";
import { allProfiles } from "./all-profiles.ts";
import { fewerRuns } from "./fewer-runs.ts";
import {
  anyMessage,
  anyWindow,
  characters,
  orderlyTurn,
  toolNames,
  viewOf,
} from "./profiles-conversations.ts";

const conversation = fc.oneof(
  { weight: 2, arbitrary: fc.array(anyMessage, { minLength: 1, maxLength: 24 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.array(orderlyTurn, { minLength: 1, maxLength: 6 }), fc.nat(20))
      .map(([turns, cut]) => turns.flat().slice(0, Math.max(1, turns.flat().length - cut))),
  },
);

const anyWay = fc.constantFrom("one" as const, "positioned" as const);

const counted = (messages: readonly ModelMessage[]): number =>
  messages.reduce((sum, message) => sum + characters.count(message, format), 0);

/** A result without its call, reasoning alone and a text of blanks may all leave a view with nothing to show. */
function isShowable(message: ModelMessageLike): boolean {
  if (message.role === "user") return true;
  const isText = (piece: Piece): boolean =>
    piece.type === "text" && piece.of === "content" && piece.text.trim() !== "";
  return (
    message.role === "assistant" &&
    (format.toolCalls(message).length > 0 || format.pieces(message).some(isText))
  );
}

describe.each(allProfiles.map((profile) => [profile.name, profile] as const))(
  "a view for %s",
  (_, profile) => {
    it("is never refused, within the budget, not empty without need, and the same when computed twice", async () => {
      await fc.assert(
        fc.asyncProperty(
          conversation,
          anyWindow,
          fc.boolean(),
          anyWay,
          async (messages, bounds, restarts, way) => {
            const store = inMemoryStore();
            const systemMessages = bounds?.unit === "message" ? "one" : way;
            const open = (): ChatMemory<ModelMessage> =>
              createChatMemory({ id: "c", store, profile, window: bounds, systemMessages });
            let memory = open();
            for (const message of messages) {
              await memory.add(message);
              if (restarts) memory = open();
              const view = await viewOf(memory);
              if (view === undefined) continue;
              const kept = await store.getMessages("c");
              const isSaid = (one: ModelMessage): boolean => one.role !== "system";
              const something = kept.messages.some(({ payload }) => isShowable(format.decode(payload)));
              expect(
                view.some(isSaid) || !something || bounds?.overflow === "evict" || bounds?.unit === "message",
              ).toBe(true);
              if (view.some(isSaid)) expect(validate(view, profile, { format })).toEqual([]);
              expect(view.length).toBeLessThanOrEqual(
                (bounds?.maxMessages as number) ?? Number.POSITIVE_INFINITY,
              );
              if (bounds !== undefined) expect(counted(view)).toBeLessThanOrEqual(bounds.maxTokens as number);
              expect(await viewOf(memory)).toEqual(view);
              expect(await viewOf(open())).toEqual(view);
            }
          },
        ),
        fewerRuns,
      );
    });

    it("keeps what it has shown when the model's answer is added", async () => {
      await fc.assert(
        fc.asyncProperty(conversation, anyWay, async (messages, systemMessages) => {
          const memory = createChatMemory({ profile, systemMessages });
          for (const message of messages) await memory.add(message);
          const shown = await memory.messages();
          await memory.add(assistant("An answer."));
          const next = await memory.messages();
          if (shown.length > 0) expect(next.slice(0, shown.length)).toEqual(shown);
          else expect(messages.some(isShowable)).toBe(false);
        }),
        fewerRuns,
      );
    });

    it("shapes a list that it has shaped no further", () => {
      fc.assert(
        fc.property(fc.array(orderlyTurn, { maxLength: 4 }), (turns) => {
          const { messages } = profile.shape(turns.flat(), format);
          const again = profile.shape(messages, format);
          expect(again.messages).toEqual(messages);
          expect(again.stages).toEqual([]);
        }),
        fewerRuns,
      );
    });
  },
);

it("any ids become such as the provider takes, and different ones stay different", () => {
  const ids = fc.uniqueArray(fc.string({ unit: "binary", minLength: 1, maxLength: 70 }), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(ids, fc.constantFrom(...allProfiles), (own, profile) => {
      const messages = own.flatMap((id) => [toolCall(id, "t", {}), toolResult(id, "t", "ok")]);
      const shaped = profile.shape([user("a"), ...messages], format).messages;
      expect(validate(shaped, profile, { format })).toEqual([]);
      const made = shaped.flatMap((message) => format.toolCalls(message).map(({ id }) => id));
      expect(new Set(made).size).toBe(own.length);
    }),
    fewerRuns,
  );
});

it("any tool's name becomes such as the provider takes, the same in whatever list, and one that it takes stays", () => {
  const name = fc.oneof(fc.string({ unit: "binary", maxLength: 140 }), fc.constantFrom(...toolNames));
  const names = fc.array(name, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(names, fc.constantFrom(...allProfiles), (all, profile) => {
      const called = (one: string, at = 0) => [
        toolCall(`abcDEF12${at}`, one, {}),
        toolResult(`abcDEF12${at}`, one, "ok"),
      ];
      const messages = all.flatMap(called);
      const shaped = profile.shape([user("a"), ...messages], format).messages.slice(1);
      expect(validate([user("a"), ...shaped], profile, { format })).toEqual([]);
      for (const [at, one] of all.entries()) {
        const alone = profile.shape([user("a"), ...called(one, at)], format).messages.slice(1);
        expect(shaped.slice(2 * at, 2 * at + 2)).toEqual(alone);
        const [shown] = alone.flatMap((message) => format.toolCalls(message).map(({ name }) => name));
        for (const message of alone)
          for (const { name } of format.toolResults(message)) expect(name).toBe(shown);
        const rule = profile.rules.find(({ rule }) => rule === "tool-names");
        if (rule?.rule === "tool-names" && rule.pattern.test(one)) expect(shown).toBe(one);
      }
    }),
    fewerRuns,
  );
});
