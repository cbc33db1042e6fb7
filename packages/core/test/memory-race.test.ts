import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Act,
  alone,
  Client,
  essence,
  type Fate,
  type Policy,
  plain,
  Race,
  type Running,
  type Stored,
} from "./memory-race-support.ts";

/** Leave open whether the call took effect. */
const open = new Set(["STORE_UNAVAILABLE", "ABORTED"]);
/** Replace or take away: after a lost answer and another's change they may be made again on top of that. */
const repeatable = new Set<Act["kind"]>(["put", "restore", "remove", "put and remove", "shrink"]);
const decides = new Set<Act["kind"]>(["set", "transaction that reads"]);

const kinds: Act["kind"][] = [
  "add",
  "add under ids",
  "add a system message",
  "add a step",
  "put",
  "set",
  "compact",
  "clear",
  "transaction",
  "transaction that reads",
  "edit",
  "put and remove",
  "rewind",
  "restore",
  "remove",
  "shrink",
  "messages",
  "history",
];
const fate = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Fate>("fine") },
  { weight: 2, arbitrary: fc.constant<Fate>("lost") },
  { weight: 1, arbitrary: fc.constant<Fate>("refused") },
);
const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom(...kinds),
  place: fc.nat(11),
  text: fc.constantFrom("a", "b"),
  fates: fc.array(fate, { maxLength: 4 }),
  ends: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});
const policies: [string, Policy][] = [
  ["without a window", {}],
  ["of four messages in steps", { window: { maxMessages: 4 } }],
  ["of four messages in turns", { window: { maxMessages: 4, unit: "turn", overflow: "keep" } }],
  ["of four messages one by one", { window: { maxMessages: 4, unit: "message" } }],
  ["of four messages and no history", { window: { maxMessages: 4 }, history: false }],
];

/** Holds every call to what it would have come to alone, at one moment of its time. */
async function check(race: Race): Promise<void> {
  for (const running of race.calls) {
    const { act: made, outcome } = running;
    const about = `${made.kind} ${JSON.stringify(running.targetId)}: ${JSON.stringify(outcome)}`;
    const effects: { at: number; before: Stored; after: Stored }[] = [];
    for (const [at, step] of race.steps.entries()) {
      const [before, after] = [await step.before, await step.after];
      if (step.by === running && before.snapshot.version !== after.snapshot.version)
        effects.push({ at, before, after });
    }
    if (made.kind === "clear") continue;
    // A memory begun by a write whose answer was lost, then cleared: it is not there, so it is begun again.
    const beginsAgain = effects.length === 2 && effects[0]?.before.snapshot.version === null;
    for (const { at, before, after } of effects) {
      const expected = await alone(before, running, race.policy);
      // A shrink goes on to the size that its first attempt aimed at.
      if (made.kind !== "shrink")
        expect(essence(after, before), about).toEqual(essence(expected.after, before));
      expect(expected.code, about).toBeUndefined();
      // The write of a call that was given up may arrive late: what its instance did since was no part of its decision.
      const known = Math.min(at, running.ended);
      if (decides.has(made.kind) && !beginsAgain && !running.isUnsure)
        expect(before.snapshot.version, about).toBe(await decidedOn(race, running, known));
    }
    if (!repeatable.has(made.kind) && !beginsAgain)
      expect(effects.length, `${about}, how often`).toBeLessThanOrEqual(1);
    if (open.has(outcome.code ?? "")) continue;
    if (outcome.code !== undefined) expect(effects, `${about} has changed something`).toEqual([]);
    if (outcome.code === "VERSION_CONFLICT" && decides.has(made.kind)) {
      if (running.isUnsure) continue;
      const version = await decidedOn(race, running, running.ended);
      const moments = await race.between(running.decidedAt ?? running.begun, running.ended);
      const others = moments.filter(({ snapshot }) => snapshot.version !== version);
      expect(others, `${about}, for no reason`).not.toEqual([]);
      continue;
    }
    await explained(race, running, effects, about);
  }
}

/** The version that a set or a transaction decided on, followed through changes of its own instance right on top of it. */
async function decidedOn(
  race: Race,
  { client, decidedAt = 0 }: Running,
  end: number,
): Promise<string | null> {
  const [seen] = await race.between(decidedAt, decidedAt);
  const first = seen?.snapshot.version ?? null;
  let version = first;
  for (const { by, before, after } of race.steps.slice(decidedAt, end)) {
    const from = (await before).snapshot.version;
    const isKnown = by.client === client && !open.has(by.outcome.code ?? "");
    // Nobody can see that a memory that is not there was there meanwhile.
    if (isKnown && (from === version || (from === null && first === null)))
      version = (await after).snapshot.version;
  }
  return version;
}

/** There is a moment at which the call alone comes to the same: that of its effect, or any if it had none. */
async function explained(
  race: Race,
  running: Running,
  effects: readonly { before: Stored }[],
  about: string,
): Promise<void> {
  // What it answers is by its first attempt, or, if others wrote before it was known whether that was made, by its last.
  const isInDoubt = running.act.fates.some((fate) => fate !== "fine");
  if (running.act.kind === "shrink" || (running.act.kind === "remove" && isInDoubt)) return;
  const moments =
    effects.length > 0
      ? effects.map(({ before }) => before)
      : await race.between(running.begun, running.ended);
  const seen: unknown[] = [];
  for (const moment of moments) {
    const { after, code, answer } = await alone(moment, running, race.policy);
    const isSame = after.snapshot.version === moment.snapshot.version;
    if (effects.length === 0 && code === undefined && !isSame) {
      seen.push("it would have changed something");
      continue;
    }
    const expected = { code, answer: plain(answer, moment) };
    const { outcome } = running;
    seen.push(expected);
    const found = { code: outcome.code, answer: plain(outcome.answer, moment) };
    if (JSON.stringify(expected) === JSON.stringify(found)) return;
  }
  expect(seen, `${about} at none of these moments`).toContainEqual("explained");
}

describe("several instances of one memory, lost and late answers, ended calls", () => {
  beforeEach(() => {
    // Without it each conflict waits some milliseconds.
    vi.spyOn(Math, "random").mockReturnValue(0);
    // Two equal batches under the same ids in one millisecond cannot be told apart, and need not be.
    let now = 0;
    vi.spyOn(Date, "now").mockImplementation(() => ++now);
  });
  afterEach(() => void vi.restoreAllMocks());

  test.each(policies)("%s: each call is what it would be alone at some moment", async (_name, policy) => {
    const script = fc.array(act, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(script, { minLength: 2, maxLength: 3 }),
        async (scheduler, scripts) => {
          const race = new Race(policy, (label) => scheduler.schedule(Promise.resolve(), label));
          const done = scripts.map(async (acts) => {
            const client = new Client(race);
            for (const next of acts) await client.run(next);
          });
          await scheduler.waitFor(Promise.all(done));
          await scheduler.waitIdle();
          await check(race);
        },
      ),
      { numRuns: Number(process.env.TURNKEEP_PROPERTY_RUNS ?? 30) },
    );
  });
});
