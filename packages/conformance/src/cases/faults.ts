import type { MemoryUpdate } from "@turnkeep/core";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { type ConformanceCase, inGroup, neededFrom } from "../case.ts";
import type { ConformanceContext } from "../context.ts";
import { everyCall } from "../support/calls.ts";
import { describeError, expectEqual, expectSecret, expectThat, named } from "../support/expect.ts";
import type { TestMemory } from "../support/memory.ts";
import { sentences } from "../support/sentences.ts";
import { fewSteps, untilItLives } from "../support/steps.ts";

const requires = { shared: true };
const needs = ["fault"] as const;

/** Kinds of updates, of a memory of five messages or of none. */
const kinds: readonly (readonly [what: string, update: (memory: TestMemory) => Promise<MemoryUpdate>])[] = [
  [
    "an update",
    async (memory) => {
      await memory.commit({ append: 5, head: "1" });
      return memory.update({
        append: 2,
        replace: [{ seq: 2, payload: '"new"' }],
        move: [
          { seq: 1, to: "evicted" },
          { seq: 3, to: "removed" },
        ],
        head: "2",
      });
    },
  ],
  [
    "a plain append",
    async (memory) => {
      await memory.commit({ append: 2 });
      return memory.update({ append: 1 });
    },
  ],
  ["a beginning", async (memory) => memory.update({ append: 3, owner: "alice", head: "1" })],
];

export const lostAnswersCases: readonly ConformanceCase[] = inGroup("replay", [
  {
    name: "an update whose answer is lost is open, and sent again it is applied once",
    sentence: sentences.replay,
    requires,
    needs,
    async run(context) {
      for (const [what, make] of kinds)
        await untilItLives(what, fewSteps(), (step) => losesAnswer(context, { what, make, step }));
    },
  },
]);

export const faultsCases: readonly ConformanceCase[] = inGroup("atomicity", [
  {
    name: "a fault that passes leaves all of an update or none, and the client goes on",
    sentence: sentences.goesOn,
    requires,
    needs,
    async run(context) {
      for (const [what, make] of kinds) {
        for (const after of [false, true])
          for (let step = 1; step <= 5; step++) await passes(context, { what, make, step, after });
      }
    },
  },
]);

export const toldFaultsCases: readonly ConformanceCase[] = inGroup("errors", [
  {
    name: "a fault of the database is open, with the driver's error as its cause",
    sentence: sentences.open,
    requires,
    needs,
    async run(context) {
      for (const [method, error] of await faultsOf(context, "a fault of the driver")) {
        const told = describeError(error);
        expectThat(
          `${method} that met a fault is STORE_UNAVAILABLE`,
          isTurnkeepError(error, "STORE_UNAVAILABLE"),
          told,
        );
        const causes = causesOf(error).map(({ message }) => message);
        const isCaused = causes.some((message) => message.includes("a fault of the driver"));
        expectThat(`the error of ${method} has the driver's as its cause`, isCaused, told);
      }
    },
  },
  {
    name: "an error does not repeat what the driver's error quotes",
    sentence: sentences.errors,
    requires,
    needs,
    async run(context) {
      const secret = `secret-${context.unique()}`;
      for (const [method, error] of await faultsOf(context, `value too long: ${secret}`)) {
        expectThat(`${method} that met a fault fails with an Error`, error instanceof Error, error);
        expectSecret(`the error of ${method}`, error, secret);
      }
    },
  },
  {
    name: "a call whose fault does not pass ends",
    sentence: sentences.goesOn,
    requires,
    needs,
    async run(context) {
      for (const after of [false, true]) {
        const memory = context.memory();
        await memory.commit({ append: 2 });
        const update = memory.update({ append: 1, move: [{ seq: 1, to: "evicted" }] });
        const client = await context.dying(1, { after });
        // Whether it took place is the matter of other cases; here it ends at all, and leaves the memory to others.
        await Promise.allSettled([client.updateMessages(memory.id, update)]);
        const { version } = await context.other.getMessages(memory.id);
        if (version === update.version) memory.model.apply(update);
        await memory.commit({ append: 1 }, context.other);
        await memory.check("after a call of another client met a fault that did not pass");
        const again = await context.dying(1, { after });
        await Promise.allSettled([again.deleteMessages(memory.id)]);
      }
    },
  },
  {
    name: "no error tells a secret of the address",
    sentence: sentences.errors,
    needs: ["unreachable"],
    heavy: true,
    async run(context) {
      const { store, secret } = await neededFrom(context.harness, "unreachable")();
      try {
        const { inspect } = await import("node:util");
        const memory = context.memory();
        let failures = 0;
        for (const [method, call] of everyCall(store, memory.id, memory.update({ append: 1 }))) {
          const [ended] = await Promise.allSettled([call()]);
          if (ended.status === "fulfilled") continue;
          failures++;
          const isTold = isTurnkeepError(ended.reason);
          expectThat(`${method} without a server fails with an error of Turnkeep`, isTold, ended.reason);
          const said = inspect(ended.reason, { depth: 8, showHidden: true });
          const what = `whether an error of ${method} without a server, or a cause of it, tells a secret of the address`;
          expectEqual(what, said.includes(secret), false);
        }
        expectThat("calls of the harness's unreachable store fail", failures > 0, failures);
      } finally {
        await store.close();
      }
    },
  },
]);

/** One kind of update, and where its client fails. */
interface Fault {
  readonly what: string;
  readonly make: (memory: TestMemory) => Promise<MemoryUpdate>;
  readonly step: number;
}

/** An update by a client that loses the answer of a write and dies; answers whether the update had ended before. */
async function losesAnswer(context: ConformanceContext, { what, make, step }: Fault): Promise<boolean> {
  const { store, other, dying } = context;
  const memory = context.memory();
  const update = await make(memory);
  const client = await dying(step, { after: true });
  const [ended] = await Promise.allSettled([client.updateMessages(memory.id, update)]);
  const where = `${what} whose answer was lost at write ${step}`;
  await expectTrue(where, context, memory, { update, ended });
  await store.updateMessages(memory.id, update);
  memory.model.apply(update);
  await memory.check(`after ${where}, and was sent again`, other);
  await other.sweep();
  await memory.commit({ append: 1 });
  await memory.check(`after ${where}, was sent again, and another update`, other);
  return ended.status === "fulfilled";
}

/** An update by a client of which one write fails, and that goes on. */
async function passes(
  context: ConformanceContext,
  { what, make, step, after }: Fault & { readonly after: boolean },
): Promise<void> {
  const { other, dying } = context;
  const memory = context.memory();
  const update = await make(memory);
  const before = memory.model.snapshot();
  const client = await dying(step, { after, passes: true });
  const [ended] = await Promise.allSettled([client.updateMessages(memory.id, update)]);
  const where = `${what} of which write ${step} ${after ? "lost its answer" : "failed"}, once`;
  const isApplied = await expectTrue(where, context, memory, { update, ended });
  if (isApplied) memory.model.apply(update);
  else expectEqual(`the version ${where}`, before.version, memory.model.version);
  await memory.check(`after ${where}`, other);
  // The fault may be still to come.
  if (ended.status === "fulfilled") return;
  await named(
    `sending it again by the same client, after ${where}`,
    client.updateMessages(memory.id, update),
  );
  if (!isApplied) memory.model.apply(update);
  await memory.check(`after ${where}, and was sent again by the same client`, other);
  await memory.commit({ append: 1 }, client);
  await memory.check(`after ${where}, and another update by the same client`, other);
}

/** Fails where a call told what did not happen; answers whether the update took place. */
async function expectTrue(
  where: string,
  { store }: ConformanceContext,
  { id }: TestMemory,
  { update, ended }: { readonly update: MemoryUpdate; readonly ended: PromiseSettledResult<void> },
): Promise<boolean> {
  const { version } = await store.getMessages(id);
  const isApplied = version === update.version;
  if (ended.status === "fulfilled")
    expectEqual(`whether ${where} took place, as it was acknowledged`, isApplied, true);
  else {
    const isOpen = isTurnkeepError(ended.reason, "STORE_UNAVAILABLE");
    expectThat(`${where} is STORE_UNAVAILABLE`, isOpen, describeError(ended.reason));
  }
  return isApplied;
}

/** What calls of clients fail with whose first write fails, with an error that says so. */
async function faultsOf(
  context: ConformanceContext,
  saying: string,
): Promise<readonly (readonly [method: string, error: unknown])[]> {
  const errors: (readonly [string, unknown])[] = [];
  for (const method of ["updateMessages", "updateMessages of a beginning", "deleteMessages"]) {
    const memory = context.memory();
    if (method !== "updateMessages of a beginning")
      await memory.commit({ append: 2, owner: context.unique() });
    const client = await context.dying(1, { saying });
    const call =
      method === "deleteMessages"
        ? client.deleteMessages(memory.id)
        : client.updateMessages(memory.id, memory.update({ append: 1 }));
    const [ended] = await Promise.allSettled([call]);
    expectEqual(`how ${method} ended whose first write failed`, ended.status, "rejected");
    if (ended.status === "rejected") errors.push([method, ended.reason]);
  }
  return errors;
}

/** An error and what caused it. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 10; cause = cause.cause)
    causes.push(cause);
  return causes;
}
