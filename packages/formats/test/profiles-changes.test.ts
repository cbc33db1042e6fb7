import {
  assistant,
  type ChatMemory,
  createChatMemory,
  entry,
  modelMessageFormat as format,
  inMemoryStore,
  type ModelMessage,
} from "@turnkeep/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { validate } from "../src/profiles.ts";
import { allProfiles } from "./all-profiles.ts";
import { fewerRuns } from "./fewer-runs.ts";
import { anyMessage, anyWindow, throwUnless, viewOf } from "./profiles-conversations.ts";

/** By the place of a message among those that were ever added, counted from the newest. */
type Change =
  | { readonly kind: "add"; readonly messages: readonly ModelMessage[] }
  | { readonly kind: "put"; readonly place: number; readonly message: ModelMessage }
  | { readonly kind: "compact"; readonly place: number; readonly message: ModelMessage }
  | { readonly kind: "remove" | "rewind"; readonly place: number }
  | { readonly kind: "shrink" | "restart" };

const place = fc.nat(7);
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("add" as const),
      messages: fc.array(anyMessage, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("put" as const), place, message: anyMessage }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("remove" as const, "rewind" as const), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("compact" as const), place, message: anyMessage }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("shrink" as const, "restart" as const) }) },
);

async function apply(memory: ChatMemory<ModelMessage>, one: Change, ids: string[]): Promise<unknown> {
  const at = "place" in one ? ids.at(-1 - one.place) : undefined;
  switch (one.kind) {
    case "add": {
      const entries = one.messages.map((message, index) => entry(message, { id: `m${ids.length + index}` }));
      ids.push(...(await memory.add(...entries)));
      return;
    }
    case "put": {
      const id = at ?? `p${ids.length}`;
      await memory.put(id, one.message);
      if (at === undefined) ids.push(id);
      return;
    }
    case "compact":
      return at === undefined ? undefined : memory.compact({ through: at, replacement: one.message });
    case "remove":
      return at === undefined ? undefined : memory.remove(at);
    case "rewind":
      return at === undefined ? undefined : memory.rewind(at);
    case "shrink":
      return memory.shrink();
    case "restart":
      return;
  }
}

/** The same as of any format, and a compact that reaches less far than the one before it. */
const throwUnlessRefused = throwUnless(
  "INVALID_OPTION",
  "NOT_FOUND",
  "INVALID_MESSAGE",
  "ID_CONFLICT",
  "VERSION_CONFLICT",
);

describe.each(allProfiles.map((profile) => [profile.name, profile] as const))(
  "a view for %s",
  (_, profile) => {
    it("is never refused, whatever is changed in its memory, and the same for all who read it", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(change, { minLength: 1, maxLength: 16 }),
          anyWindow,
          async (changes, bounds) => {
            const store = inMemoryStore();
            const open = () => createChatMemory({ id: "c", store, profile, window: bounds });
            let memory = open();
            const ids: string[] = [];
            for (const one of changes) {
              if (one.kind === "restart") memory = open();
              await apply(memory, one, ids).catch(throwUnlessRefused);
              const view = await viewOf(memory);
              if (view?.some(({ role }) => role !== "system")) {
                expect(validate(view, profile, { format })).toEqual([]);
              }
              expect(await viewOf(open())).toEqual(view);
            }
          },
        ),
        fewerRuns,
      );
    });

    it("keeps what it has shown when the model's answer is added, whatever was changed before", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 16 }), async (changes) => {
          const memory = createChatMemory({ profile });
          const ids: string[] = [];
          for (const one of changes) await apply(memory, one, ids).catch(throwUnlessRefused);
          const shown = await memory.messages();
          await memory.add(assistant("An answer."));
          const next = await memory.messages();
          if (shown.some(({ role }) => role !== "system")) expect(next.slice(0, shown.length)).toEqual(shown);
        }),
        fewerRuns,
      );
    });
  },
);
