import fc from "fast-check";
import { type ConformanceCase, inGroup } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { PathError } from "../path-error.ts";
import { about, brokenSentence, ConformanceError, tell } from "../support/expect.ts";
import { sentences } from "../support/sentences.ts";
import { anyQuery, operations, SequenceRun, toQuery } from "../support/sequences.ts";

const sequencesName = "random sequences of calls by two clients leave what a plain model holds";
const queriesName = "random queries of a history answer what a plain model answers";

export const modelCases: readonly ConformanceCase[] = inGroup("model", [
  {
    name: sequencesName,
    sentence: sentences.atomic,
    heavy: true,
    async run(context) {
      let failed: readonly string[] = [];
      const property = fc.asyncProperty(operations, async (sequence) => {
        const log: string[] = [];
        try {
          await new SequenceRun(context, log).run(sequence);
        } catch (error) {
          failed = log;
          throw error;
        }
      });
      await holds(context, sequencesName, property, () => failed);
    },
  },
  {
    name: queriesName,
    sentence: sentences.historyPage,
    requires: { history: true },
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 20, nextSeq: 24 });
      const to = ["evicted", "superseded", "removed", "evicted"] as const;
      const move = Array.from({ length: 12 }, (_, index) => ({
        seq: index + 1,
        to: to[index % 4] ?? "evicted",
      }));
      await memory.commit({ append: 15, move });
      const property = fc.asyncProperty(anyQuery, async (query) => {
        context.signal.throwIfAborted();
        await about(sentences.historyPage, () =>
          memory.checkHistory("of a random query", toQuery(query), context.other),
        );
      });
      await holds(context, queriesName, property, (query) => [`query ${JSON.stringify(query)}`]);
    },
  },
]);

/** Fails with the smallest counterexample that was found, with the sentence that it breaks and what repeats it. */
async function holds<T>(
  context: ConformanceContext,
  name: string,
  property: fc.IAsyncProperty<[T]>,
  describe: (counterexample: T) => readonly string[],
): Promise<void> {
  const result = await tried(context, name, property);
  if (!result.failed) return;
  const error: unknown = result.errorInstance;
  const steps = result.counterexample === null ? [] : describe(result.counterexample[0]);
  const after = `after these calls (run ${result.numRuns}, made smaller ${result.numShrinks} times):`;
  throw new ConformanceError([tell(error), after, ...steps.map((step) => `- ${step}`)].join("\n"), {
    cause: error,
    sentence: brokenSentence(error),
    repeat: { names: [name], seed: context.seed, path: result.counterexamplePath ?? undefined },
  });
}

/** Tries a property. A path that leads to no sequence of its seed would repeat nothing, and pass: it is refused. */
async function tried<T>(
  { seed, path }: ConformanceContext,
  name: string,
  property: fc.IAsyncProperty<[T]>,
): Promise<fc.RunDetails<[T]>> {
  if (path === undefined) return fc.check(property, { seed, numRuns: 40 });
  try {
    const result = await fc.check(property, { seed, path });
    if (result.numRuns > 0) return result;
  } catch {
    // What the property throws is in the result; fast-check itself throws for a path alone.
  }
  throw new PathError(name, seed, path);
}
