import type { MessageFormat } from "@turnkeep/core";
import {
  applyProcessors,
  type Processor,
  redact,
  stripMedia,
  stripReasoning,
  tokenLimiter,
  toolCallFilter,
  truncateToolResults,
} from "@turnkeep/core/processors";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fewerRuns } from "./fewer-runs.ts";
import { dialects, turns } from "./processors-conversations.ts";
import { characters as counter } from "./profiles-conversations.ts";

type Make = () => Processor<unknown>;

const few = fc.option(fc.nat(5), { nil: undefined });
const anyProcessor: fc.Arbitrary<Make> = fc.oneof(
  fc
    .record({
      limit: fc.integer({ min: 100, max: 2000 }),
      unit: fc.constantFrom("step" as const, "turn" as const),
    })
    .map((options) => () => tokenLimiter({ ...options, counter, overflow: "keep" })),
  fc
    .record({ exclude: fc.constantFrom(undefined, ["search"], ["read"]), keepLastSteps: few })
    .map((options) => () => toolCallFilter(options)),
  few.map((keepLastSteps) => () => stripMedia({ keepLastSteps })),
  few.map((keepLastSteps) => () => stripReasoning({ keepLastSteps })),
  fc.integer({ min: 50, max: 90 }).map((maxTokens) => () => truncateToolResults({ maxTokens, counter })),
  fc.constant(() => redact({ patterns: [/sk-\d+/] })),
);

function textsOf<M>(message: M, format: MessageFormat<M>): string[] {
  return format.pieces(message).flatMap((piece) => (piece.type === "text" ? [piece.text] : []));
}

describe.each(dialects)("processors over messages of $name", ({ format, conversation }) => {
  it("keep order, pairs and the system message, change nothing that they were given, and do the same again", async () => {
    await fc.assert(
      fc.asyncProperty(turns, fc.array(anyProcessor, { minLength: 1, maxLength: 4 }), async (all, makes) => {
        const messages = conversation(all);
        const before = structuredClone(messages);
        const run = (): Promise<unknown[]> =>
          applyProcessors(
            messages,
            makes.map((make) => make()),
            { format },
          );
        const shown = await run();
        expect(messages).toStrictEqual(before);
        expect(await run()).toEqual(shown);
        expect(shown[0]).toBe(messages[0]);
        const calls = new Set<string>();
        const results = new Set<string>();
        for (const message of shown) {
          format.decode(format.encode(message));
          for (const { id } of format.toolCalls(message)) calls.add(id);
          for (const { id } of format.toolResults(message)) {
            expect(calls).toContain(id);
            results.add(id);
          }
        }
        expect([...calls]).toEqual(expect.arrayContaining([...results]));
        expect(results.size).toBe(calls.size);
        const numbers = shown
          .flatMap((message) => textsOf(message, format))
          .flatMap((text) => /(?:^|")(\d+): /.exec(text)?.[1] ?? [])
          .map(Number);
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      }),
      fewerRuns,
    );
  });

  it("make of a list that grows what others, made alike, make of it at once", async () => {
    const chain = fc.array(anyProcessor, { minLength: 1, maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(turns, chain, async (all, makes) => {
        const messages = conversation(all);
        const made = (): Processor<unknown>[] => makes.map((make) => make());
        const growing = made();
        for (let length = 1; length <= messages.length; length++) {
          const list = messages.slice(0, length);
          const shown = await applyProcessors(list, growing, { format });
          expect(shown).toEqual(await applyProcessors(list, made(), { format }));
        }
      }),
      fewerRuns,
    );
  });

  it("leave nothing of what they are to leave out", async () => {
    await fc.assert(
      fc.asyncProperty(turns, async (all) => {
        const messages = conversation(all);
        const processors = [
          toolCallFilter({ exclude: ["search"] }),
          stripMedia(),
          stripReasoning(),
          redact({ patterns: [/sk-\d+/] }),
          truncateToolResults({ maxTokens: 60, counter }),
        ];
        const shown = await applyProcessors(messages, processors, { format });
        for (const message of shown) {
          expect(format.toolCalls(message).map(({ name }) => name)).not.toContain("search");
          expect(format.hasReasoning(message)).toBe(false);
          expect(format.pieces(message).some(({ type }) => type === "media")).toBe(false);
          expect(textsOf(message, format).join()).not.toMatch(/sk-\d/);
          for (const piece of format.pieces(message)) {
            if (piece.type === "text" && piece.of === "tool-result")
              expect(piece.text.length).toBeLessThanOrEqual(60);
          }
        }
      }),
      fewerRuns,
    );
  });
});
