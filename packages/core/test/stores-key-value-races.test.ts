import fc from "fast-check";
import { expect, test } from "vitest";
import { isTurnkeepError } from "../src/errors.ts";
import type { ChatMemoryStore, MemoryUpdate, MessageState, StoredMessage } from "../src/store-contract.ts";
import type { KeyValueStoreOptions } from "../src/stores/key-value-options.ts";
import { storeOfSegments } from "../src/stores/key-value-store.ts";
import { mapHooks, newVersion } from "./stores-support.ts";

type Row = StoredMessage & { state: MessageState };

/** What a hook meets: nothing, a fault before it does anything, or after, so that its answer is lost. */
const fault = fc.oneof({ weight: 15, arbitrary: fc.constant("none") }, fc.constantFrom("before", "after"));
const step = fc.record({
  kind: fc.constantFrom("update", "update", "update", "update", "update", "read", "sweep", "sweep", "delete"),
  appends: fc.nat(2),
  changes: fc.array(
    fc.record({
      pick: fc.nat(),
      to: fc.constantFrom<MessageState | "removed">(
        "evicted",
        "evicted",
        "evicted",
        "superseded",
        "live",
        "removed",
      ),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  repeats: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What each version must hold, and which of them cannot have been written. */
class Versions {
  readonly rows: Map<string, readonly Row[]> = new Map();
  readonly refused: Set<string> = new Set();
  /** The version that was acknowledged after each. */
  readonly next: Map<string, string> = new Map();

  plan(expected: string | null, { appends, changes }: Step): MemoryUpdate {
    const before = expected === null ? [] : (this.rows.get(expected) ?? []);
    const nextSeq = Number(expected?.split("/")[1] ?? 1);
    const append = Array.from({ length: appends }, (_, index): StoredMessage => {
      const seq = nextSeq + index;
      return { id: `m${seq}`, seq, createdAt: seq, payload: `"${newVersion()}"` };
    });
    const rows = [...before, ...append.map((message): Row => ({ ...message, state: "live" }))];
    const to = new Map(
      changes.flatMap(({ pick, to }) =>
        rows.length === 0 ? [] : [[rows[pick % rows.length]?.seq ?? 0, to]],
      ),
    );
    const version = `${newVersion()}/${nextSeq + appends}`;
    const after = rows.map((row) => ({ ...row, state: to.get(row.seq) ?? row.state }));
    this.rows.set(
      version,
      after.filter((row): row is Row => row.state !== "removed"),
    );
    const move = Array.from(to, ([seq, state]) => ({ seq, to: state }));
    return { expected, version, nextSeq: nextSeq + appends, append, replace: [], move };
  }
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "";
  } catch (error) {
    return isTurnkeepError(error) ? error.code : `not ours: ${error}`;
  }
}

/** Fails unless what is read is what some version holds, and that version was not refused. */
async function expectTrue(store: ChatMemoryStore, versions: Versions): Promise<string | null | undefined> {
  let read: Awaited<ReturnType<ChatMemoryStore["getMessages"]>>;
  let page: Awaited<ReturnType<ChatMemoryStore["getHistory"]>>;
  try {
    read = await store.getMessages("a");
    page = await store.getHistory("a", { limit: 1000 });
  } catch (error) {
    expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
    return undefined;
  }
  const { version, messages } = read;
  const rows = version === null ? [] : versions.rows.get(version);
  const live = rows?.filter(({ state }) => state === "live").map(({ state: _, ...rest }) => rest);
  expect(messages).toEqual(live);
  expect(versions.refused).not.toContain(version);
  const known = [[], ...versions.rows.values()].map((some) => JSON.stringify(some.map(plain)));
  expect(known).toContain(JSON.stringify(page.messages.map(plain)));
  return version;
}

function plain({ seq, id, state, payload }: Row): unknown {
  return [seq, id, state, payload];
}

async function carryOut(store: ChatMemoryStore, steps: readonly Step[], versions: Versions): Promise<void> {
  for (const one of steps) {
    if (one.kind === "sweep") expect(["", "STORE_UNAVAILABLE"]).toContain(await codeOf(store.sweep()));
    else if (one.kind === "delete") {
      expect(["", "STORE_UNAVAILABLE"]).toContain(await codeOf(store.deleteMessages("a")));
    } else {
      const version = await expectTrue(store, versions);
      if (version === undefined || one.kind === "read") continue;
      const update = versions.plan(version, one);
      let code = await codeOf(store.updateMessages("a", update));
      // A beginning that is sent again may begin a second life.
      for (
        let again = 0;
        code === "STORE_UNAVAILABLE" && one.repeats && version !== null && again < 3;
        again++
      ) {
        code = await codeOf(store.updateMessages("a", update));
        if (code === "VERSION_CONFLICT") code = "open";
      }
      expect(["", "STORE_UNAVAILABLE", "VERSION_CONFLICT", "open"]).toContain(code);
      if (code === "VERSION_CONFLICT") versions.refused.add(update.version);
      if (code === "" && version !== null) {
        expect(versions.next.get(version)).toBeUndefined();
        versions.next.set(version, update.version);
      }
    }
  }
}

/** The hooks, each call of which waits for its turn, and may meet a fault. */
function troubled(
  hooks: KeyValueStoreOptions<string>,
  scheduler: fc.Scheduler,
  faults: Iterator<string>,
): KeyValueStoreOptions<string> {
  const call = <A extends unknown[], T>(name: string, hook: (...given: A) => T) => {
    const turn = (what: unknown) => scheduler.schedule(Promise.resolve(), `${name} ${what}`);
    return async (...given: A): Promise<Awaited<T>> => {
      await turn(given[0]);
      const { value } = faults.next();
      if (value === "before") throw new Error("not reached");
      const answer = await hook(...given);
      // A database takes as long to answer as to be asked.
      await turn("answers");
      if (value === "after") throw new Error("answer lost");
      return answer;
    };
  };
  const { get, compareAndSet, delete: remove, list } = hooks;
  return {
    get: call("get", get),
    compareAndSet: call("compareAndSet", compareAndSet),
    delete: call("delete", remove),
    list: list && call("list", list),
  };
}

test("whatever fails and whoever races, a version is whole, and a sweep leaves what it names", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.infiniteStream(fault),
      fc.constantFrom(1, 250),
      fc.array(step, { maxLength: 12 }),
      fc.array(step, { maxLength: 12 }),
      async (scheduler, faults, size, first, second) => {
        const hooks = mapHooks();
        const versions = new Versions();
        const clients = [first, second].map((steps) => ({
          steps,
          store: storeOfSegments(troubled(hooks, scheduler, faults), size),
        }));
        await scheduler.waitFor(
          Promise.all(clients.map(({ store, steps }) => carryOut(store, steps, versions))),
        );

        const store = storeOfSegments(hooks, size);
        const version = (await expectTrue(store, versions)) ?? null;
        const step: Step = {
          kind: "update",
          appends: 2,
          changes: [{ pick: 0, to: "evicted" }],
          repeats: false,
        };
        await store.updateMessages("a", versions.plan(version, step));
        await store.sweep();
        await expectTrue(store, versions);
        // What is left is what the memory names, and no other: deleted by its names alone, nothing is left.
        const left = hooks.values.size;
        await store.deleteMessages("a");
        expect({ left, after: hooks.values.size }).toEqual({ left, after: 0 });
      },
    ),
  );
});
