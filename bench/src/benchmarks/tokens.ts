import { textCounter } from "@turnkeep/tokens";
import type { Benchmark, Target } from "../benchmark.ts";
import { noise, timesOf } from "../measure.ts";
import type { Cell } from "../report/table.ts";

const encodings = ["o200k_base", "cl100k_base"];

/** The first article of the Universal Declaration of Human Rights, and what else conversations hold. */
const kinds: Readonly<Record<string, string>> = {
  English:
    "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood. ",
  Russian:
    "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью. ",
  Chinese: "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
  Hindi: "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। ",
  TypeScript:
    "export function sum(values: readonly number[]): number {\n  return values.reduce((a, b) => a + b, 0);\n}\n\n",
  JSON: '{"id":"01890a5d-ac96-774b-bcce-b302099a8057","price":12.95,"tags":["new","sale"]},\n',
};

function noisy(length: number, character: (value: number) => string): string {
  const values = noise();
  return Array.from({ length }, () => character(values.next().value as number)).join("");
}

const worst: Readonly<Record<string, string>> = {
  "50,000 spaces": " ".repeat(50_000),
  "10,000 Chinese characters": noisy(10_000, (value) => String.fromCharCode(0x4e00 + (value % 20_000))),
  "100,000 random bytes as text": new TextDecoder().decode(
    Uint8Array.from(
      { length: 100_000 },
      (
        (values) => () =>
          (values.next().value as number) % 256
      )(noise()),
    ),
  ),
  "100,000 random letters": noisy(100_000, (value) => String.fromCharCode(97 + (value % 26))),
  "400,000 times a": "a".repeat(400_000),
};

const megabytes = (text: string): number => new TextEncoder().encode(text).length / 1e6;

/**
 * How fast text is counted, by kind, and what the worst inputs cost. The words of a kind repeat more than in a
 * conversation, so that its speed is that of counts that are known; the worst inputs show the speed of those that are not.
 */
export const tokens: Benchmark = {
  name: "tokens",
  about: "how fast text is counted",
  parts: encodings,
  async run({ quick, only, say }) {
    const chosen = encodings.filter((encoding) => only.length === 0 || only.includes(encoding));
    const speeds: Cell[][] = Object.keys(kinds).map((kind) => [kind]);
    const delays: Cell[][] = Object.keys(worst).map((kind) => [kind]);
    const starts: Cell[][] = [];
    const targets: Target[] = [];
    for (const encoding of chosen) {
      say(encoding);
      const began = performance.now();
      const count = await textCounter(encoding);
      count("");
      starts.push([encoding, performance.now() - began]);
      for (const [index, sample] of Object.values(kinds).entries()) {
        const values = noise();
        // A number between the sentences, so that no two are the same.
        const sentences = Array.from(
          { length: quick ? 100 : 3_000 },
          () => `${sample}${values.next().value} `,
        );
        const text = sentences.join("");
        const took = Math.min(...(await timesOf(3, () => count(text), { warmUp: 0 })));
        speeds[index]?.push((megabytes(text) / took) * 1_000);
      }
      for (const [index, text] of Object.values(worst).entries()) {
        const took = Math.max(...(await timesOf(1, () => count(text), { warmUp: 0 })));
        delays[index]?.push(took);
        targets.push({
          what: `${Object.keys(worst)[index]}, ${encoding}, ms`,
          measured: took,
          atMost: 1_000,
        });
      }
    }
    return {
      tables: [
        { title: "Counting text, MB/s", columns: ["kind", ...chosen], rows: speeds },
        { title: "The worst inputs, ms", columns: ["input", ...chosen], rows: delays },
        { title: "Reading an encoding, once in a process", columns: ["encoding", "ms"], rows: starts },
      ],
      targets,
    };
  },
};
