import { type ChatMemoryStore, inMemoryStore, type ModelMessage } from "@turnkeep/core";
import { describe, expect, test } from "vitest";
import { dying, lives } from "./crash-process.ts";
import { ask, lookAt, refusals, unpaired } from "./crash-turn.ts";

interface Run {
  readonly store: ChatMemoryStore;
  readonly isDead: boolean;
  readonly runs: string[];
  readonly requests: ModelMessage[][];
}

async function dyingAt(
  dieAt: number,
  options: { readonly idempotent: boolean; readonly isShaped: boolean },
): Promise<Run> {
  const store = inMemoryStore();
  const runs: string[] = [];
  const requests: ModelMessage[][] = [];
  const { tick, died } = dying(dieAt);
  const turn = ask({ store, tick, onRun: (id) => runs.push(id), requests, ...options });
  const end = await Promise.race([turn, died]);
  return { store, isDead: end === "died", runs, requests };
}

const kinds = [
  { idempotent: false, isShaped: true },
  { idempotent: false, isShaped: false },
  { idempotent: true, isShaped: true },
];

describe.each(kinds)("a process that dies at any await of a turn, %j", (options) => {
  test("and is asked again with the same id", async () => {
    let deaths = 0;
    for (let dieAt = 1; ; dieAt++) {
      const { store, isDead, runs, requests } = await dyingAt(dieAt, options);
      if (!isDead) break;
      deaths++;
      const before = await lookAt(store);
      const { text } = await ask({ store, tick: lives, onRun: (id) => runs.push(id), requests, ...options });
      const after = await lookAt(store);
      const at = `died at ${dieAt}`;
      expect(text, at).toBe("Done.");
      expect(after.questions, at).toBe(1);
      expect(after.answers, at).toBe(1);
      expect(after.results.slice(0, before.results.length), at).toEqual(before.results);
      expect(after.results, at).toHaveLength(3);
      expect(unpaired(after.messages), at).toEqual([]);
      expect(requests.flatMap(options.isShaped ? refusals : unpaired), at).toEqual([]);
      if (!options.idempotent) expect(new Set(runs).size, at).toBe(runs.length);
      else
        expect(
          after.results.every((result) => result.includes("result of")),
          at,
        ).toBe(true);
    }
    expect(deaths).toBeGreaterThan(30);
  });

  test("and is asked something else", async () => {
    for (let dieAt = 1; ; dieAt++) {
      const { store, isDead, requests } = await dyingAt(dieAt, options);
      if (!isDead) break;
      const before = await lookAt(store);
      const other = { id: "q-2", text: "Thank you." };
      await ask({ store, tick: lives, onRun: () => undefined, requests, ...options, ...other });
      const after = await lookAt(store);
      const at = `died at ${dieAt}`;
      expect(after.results.slice(0, before.results.length), at).toEqual(before.results);
      expect(unpaired(after.messages), at).toEqual([]);
      expect(requests.flatMap(options.isShaped ? refusals : unpaired), at).toEqual([]);
    }
  });
});

test("a process that dies again and again while it goes on ends the turn all the same", async () => {
  const store = inMemoryStore();
  const runs: string[] = [];
  const requests: ModelMessage[][] = [];
  const options = {
    store,
    onRun: (id: string) => runs.push(id),
    requests,
    idempotent: false,
    isShaped: true,
  };
  let dieAt = 4;
  for (;;) {
    const { tick, died } = dying(dieAt++);
    const end = await Promise.race([ask({ ...options, tick }), died]);
    if (end !== "died") break;
  }
  const { questions, answers, results } = await lookAt(store);
  expect({ questions, answers, results: results.length }).toEqual({ questions: 1, answers: 1, results: 3 });
  expect(new Set(runs).size).toBe(runs.length);
  expect(requests.flatMap(refusals)).toEqual([]);
});
