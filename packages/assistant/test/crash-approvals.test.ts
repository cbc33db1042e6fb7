import { env } from "node:process";
import { type ChatMemoryStore, inMemoryStore, type ModelMessage } from "@turnkeep/core";
import { expect, test } from "vitest";
import { approve, type Client } from "./crash-approvals-turn.ts";
import { dying, lives } from "./crash-process.ts";
import { ask, lookAt, refusals, unpaired } from "./crash-turn.ts";

interface Kind {
  readonly idempotent: boolean;
  readonly isShaped: boolean;
}

interface World {
  readonly store: ChatMemoryStore;
  readonly client: Client;
  readonly runs: string[];
  readonly requests: ModelMessage[][];
}

const world = (): World => ({ store: inMemoryStore(), client: { decided: 0 }, runs: [], requests: [] });

/** One process of that world; answers whether it died. */
async function process(at: World, kind: Kind, dieAt = Number.POSITIVE_INFINITY): Promise<boolean> {
  const { tick, died } = dying(dieAt);
  const onRun = (id: string): unknown => at.runs.push(id);
  const turn = approve({ ...at, ...kind, tick, onRun, onAnswer: () => undefined });
  return (await Promise.race([turn, died])) === "died";
}

async function check({ store, runs, requests }: World, kind: Kind, at: string): Promise<void> {
  const { questions, answers, results, messages } = await lookAt(store);
  expect({ questions, answers, results: results.length }, at).toEqual({
    questions: 1,
    answers: 1,
    results: 3,
  });
  expect(
    results.filter((result) => result.includes("denied")),
    at,
  ).toHaveLength(1);
  expect(
    results.find((result) => result.includes("denied")),
    at,
  ).toContain("call-mail");
  expect(
    runs.filter((id) => id !== "call-room" && id !== "call-taxi"),
    at,
  ).toEqual([]);
  if (kind.idempotent)
    expect(
      results.filter((result) => result.includes("result of")),
      at,
    ).toHaveLength(2);
  else expect(new Set(runs).size, at).toBe(runs.length);
  expect(unpaired(messages), at).toEqual([]);
  expect(requests.flatMap(kind.isShaped ? refusals : unpaired), at).toEqual([]);
  // What a provider has in its cache stays the beginning of the next request.
  for (const [n, request] of requests.entries()) {
    const next = requests[n + 1];
    if (next !== undefined) expect(next.slice(0, request.length), at).toEqual(request);
  }
}

const kinds: readonly Kind[] = [
  { idempotent: false, isShaped: true },
  { idempotent: false, isShaped: false },
  { idempotent: true, isShaped: true },
];

/** In the usual run each kind dies at every third await, and all of them together at each. */
const stride = env.TURNKEEP_THOROUGH ? 1 : kinds.length;
const firstOf = (kind: Kind): number => 1 + (kinds.indexOf(kind) % stride);

test.each(kinds)(
  "a process that dies at any await of a turn with approvals is followed by another, %j",
  async (kind) => {
    let deaths = 0;
    for (let dieAt = firstOf(kind); ; dieAt += stride) {
      const at = world();
      if (!(await process(at, kind, dieAt))) break;
      deaths++;
      const before = await lookAt(at.store);
      expect(await process(at, kind)).toBe(false);
      const after = await lookAt(at.store);
      expect(after.results.slice(0, before.results.length)).toEqual(before.results);
      await check(at, kind, `died at ${dieAt}`);
    }
    expect(deaths).toBeGreaterThan(40 / stride);
  },
);

test("processes that die again and again end the turn all the same", async () => {
  const kind = { idempotent: false, isShaped: true };
  const at = world();
  let dieAt = 4;
  while (await process(at, kind, dieAt++));
  await check(at, kind, "at last");
});

test.each(kinds)("and a user who says something else instead is answered, %j", async (kind) => {
  for (let dieAt = firstOf(kind); ; dieAt += stride) {
    const at = world();
    if (!(await process(at, kind, dieAt))) break;
    const { store, requests, runs } = at;
    const ran = [...runs];
    const { questions, answers } = await lookAt(store);
    if (questions === 0) continue;
    const other = { id: "q-2", text: "Thank you." };
    await ask({ store, tick: lives, onRun: () => undefined, requests, ...kind, ...other });
    const late = process(at, kind);
    if (answers === 1) expect(await late).toBe(false);
    else
      await expect(late, `died at ${dieAt}`).rejects.toMatchObject({
        code: expect.stringMatching(/_CONFLICT$/),
      });
    const { messages } = await lookAt(store);
    expect(runs, `died at ${dieAt}`).toEqual(ran);
    expect(unpaired(messages), `died at ${dieAt}`).toEqual([]);
    expect(requests.flatMap(kind.isShaped ? refusals : unpaired), `died at ${dieAt}`).toEqual([]);
  }
});
