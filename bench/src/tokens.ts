/**
 * How fast text is counted, by kind, and what the worst inputs cost. Ends with status 1 if one of those takes a second.
 * The words of a kind repeat more than in a conversation, so that its speed is that of counts that are known; the worst
 * inputs show the speed of those that are not.
 *
 *     pnpm tokens [encoding…]
 */
import { textCounter } from "@turnkeep/tokens";

const encodings = process.argv.length > 2 ? process.argv.slice(2) : ["o200k_base", "cl100k_base"];

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

/** Numbers that look random and are the same in each run. */
function* noise(): Generator<number> {
  for (let state = 1; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state >>> 16;
  }
}

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

const milliseconds = (run: () => unknown): number => {
  const began = performance.now();
  run();
  return performance.now() - began;
};
const megabytes = (text: string): number => new TextEncoder().encode(text).length / 1e6;

for (const encoding of encodings) {
  const began = performance.now();
  const count = await textCounter(encoding);
  count("");
  console.log(`${encoding}: read in ${Math.round(performance.now() - began)} ms`);
  for (const [kind, sample] of Object.entries(kinds)) {
    const values = noise();
    // A number between the sentences, so that no two are the same.
    const text = Array.from({ length: 3_000 }, () => `${sample}${values.next().value} `).join("");
    const took = Math.min(...[1, 2, 3].map(() => milliseconds(() => count(text))));
    console.log(`  ${kind.padEnd(30)} ${((megabytes(text) / took) * 1_000).toFixed(1).padStart(7)} MB/s`);
  }
  for (const [kind, text] of Object.entries(worst)) {
    const took = milliseconds(() => count(text));
    console.log(`  ${kind.padEnd(30)} ${took.toFixed(0).padStart(7)} ms`);
    if (took >= 1_000) process.exitCode = 1;
  }
}
