import fc from "fast-check";
import { type ConformanceCase, inGroup } from "../case.ts";
import { sentences } from "../support/sentences.ts";
import { anyJsonText, payloads } from "../support/texts.ts";

export const payloadsCases: readonly ConformanceCase[] = inGroup("payloads", [
  ...payloads.map(([what, text]) => ({
    name: `a payload keeps ${what}`,
    sentence: sentences.opaque,
    async run(context: Parameters<ConformanceCase["run"]>[0]) {
      const memory = context.memory();
      await memory.commit({ append: [{ payload: text, meta: text }, {}], head: text });
      await memory.check("after an append");
      await memory.commit({ replace: [{ seq: 2, payload: text, meta: text }] });
      await memory.check("after a replacement", context.other);
      await memory.commit({ move: [1, 2].map((seq) => ({ seq, to: "evicted" })) });
      await memory.check("after both were evicted");
    },
  })),
  {
    name: "any JSON text comes back as it was given",
    sentence: sentences.opaque,
    async run(context) {
      const samples = fc.sample(anyJsonText(200), { numRuns: 200, seed: context.seed });
      const memory = context.memory();
      await memory.commit({
        append: samples.map((payload, index) => ({ payload, meta: samples.at(-index) })),
      });
      await memory.check("of 200 random texts");
    },
  },
  {
    name: "a message without meta has none, one with an empty text has it",
    sentence: sentences.opaque,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: [{}, { meta: "" }, { seq: 3, meta: "null" }] });
      await memory.check("of messages with and without meta");
    },
  },
  {
    name: "text that is not well-formed is refused",
    sentence: sentences.invalid,
    async run(context) {
      const memory = context.memory();
      await memory.commit({ append: 1 });
      for (const text of ['"\ud800"', '"\udc00\ud83d"', '"a\u0000b"', "\u0000"]) {
        for (const change of [
          { append: [{ payload: text }] },
          { append: [{ meta: text }] },
          { replace: [{ seq: 1, payload: text }] },
          { replace: [{ seq: 1, meta: text }] },
          { head: text },
        ]) {
          const [where = ""] = Object.keys(change);
          await memory.refused(
            `an update with such a text in ${where}`,
            "INVALID_OPTION",
            memory.update(change),
          );
        }
      }
      await memory.check("after updates with text that is not well-formed");
    },
  },
]);
