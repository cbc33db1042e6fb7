import type { ChatMemoryStore, StoreCapabilities } from "@turnkeep/core";
import { blamed, watched } from "./background.ts";
import { type ConformanceCase, neededFrom, unmetNeed, unmetRequirement } from "./case.ts";
import { checkHarness } from "./checks.ts";
import type { ConformanceContext } from "./context.ts";
import type { ConformanceHarness, HarnessCreateOptions } from "./harness.ts";
import { PathError } from "./path-error.ts";
import { createRandom, hex } from "./random.ts";
import type { ConformanceResult } from "./report.ts";
import { ConformanceError, describeError, expectThat, type RepeatOptions, tell } from "./support/expect.ts";
import { TestMemory } from "./support/memory.ts";
import { ends, type Failure, longestMs, outcome, pass, within } from "./time-limits.ts";

export interface SessionOptions {
  readonly seed: number;
  readonly path?: string | undefined;
  /** Milliseconds a case may take. */
  readonly timeoutMs: number;
  /** How whoever runs the cases repeats a failure, as a text to copy. */
  readonly repeat: (options: RepeatOptions) => string;
}

/** What {@link ends} is asked with: long enough for a slow store, short beside a case's own limit. */
const probeMs = 5_000;

const heavyFactor = 5;

/** How long a case may take. */
function caseTimeout(member: ConformanceCase, timeoutMs: number): number {
  return member.heavy ? heavyFactor * timeoutMs : timeoutMs;
}

/** How long two clients may take to be made, and how long `destroy` and the closing before it, with as much again. */
const harnessFactor = 2 * heavyFactor;

/**
 * How long a runner is to wait for the test of a case, whose clients may be made before and anew after it. The kit ends all
 * of it itself, with a better message: this is only a fallback.
 */
export function testTimeout(member: ConformanceCase, timeoutMs: number): number {
  return Math.min(longestMs, 2 * caseTimeout(member, timeoutMs) + 3 * harnessFactor * timeoutMs);
}

/** How long a runner is to wait for the end of a session. */
export function endTimeout(timeoutMs: number): number {
  return Math.min(longestMs, harnessFactor * timeoutMs);
}

/** A harness in use: the clients that live as long as the run, and the running of one case after another. */
export class ConformanceSession {
  readonly #harness: ConformanceHarness;
  readonly #options: SessionOptions;
  /** Apart from the seed, so that a run with an earlier seed does not meet the earlier run's data. */
  readonly #nonce: string = hex(Math.random) + hex(Math.random);
  #clients: readonly [ChatMemoryStore, ChatMemoryStore] | undefined;
  #opening: Promise<readonly [ChatMemoryStore, ChatMemoryStore]> | undefined;
  #lastFailed: string | undefined;

  constructor(harness: ConformanceHarness, options: SessionOptions) {
    checkHarness(harness);
    this.#harness = harness;
    this.#options = options;
  }

  /** What the store declares. Rejects also with what it throws in the background when it is made. */
  async capabilities(): Promise<StoreCapabilities> {
    const { answer, raised } = await watched(() => this.#open());
    if (raised !== undefined) throw raised.error;
    return answer[0].capabilities;
  }

  /**
   * Runs one case, or skips it by what the store declares. `undefined`: it was cut off after `leftMs`, before its own
   * limit. Rejects only if the harness fails, and with a {@link PathError}.
   */
  async run(
    member: ConformanceCase,
    leftMs: number = Number.POSITIVE_INFINITY,
  ): Promise<ConformanceResult | undefined> {
    const { answer, raised } = await watched((seen) => this.#run(member, leftMs, seen));
    const result = raised === undefined ? answer : blamed(member, answer, raised);
    if (result?.status === "failed") this.#lastFailed = member.name;
    return result;
  }

  async #run(
    member: ConformanceCase,
    leftMs: number,
    raised: Promise<void>,
  ): Promise<ConformanceResult | undefined> {
    const { name, group } = member;
    const { capabilities } = (await this.#open())[0];
    const reason = unmetRequirement(member.requires, capabilities) ?? unmetNeed(member.needs, this.#harness);
    if (reason !== undefined) return { name, group, sentence: member.sentence, status: "skipped", reason };

    const started = performance.now();
    const ended = await this.#attempt(member, capabilities, leftMs, raised);
    const durationMs = Math.round(performance.now() - started);
    if (ended === undefined) return { name, group, sentence: member.sentence, status: "passed", durationMs };
    const { error, hint } = ended;
    if (error instanceof PathError) throw error;
    if (ended.cutOff) return undefined;
    const { repeat, sentence = member.sentence } = error instanceof ConformanceError ? error : {};
    const again = repeat === undefined ? [] : [`to repeat it: ${this.#options.repeat(repeat)}`];
    const message = [tell(error), ...hint, ...again].join("\n");
    const status = member.provisional ? "warned" : "failed";
    return { name, group, sentence, status, durationMs, message, error };
  }

  /** Runs a case and clears up after it. `undefined`: it passed. */
  async #attempt(
    member: ConformanceCase,
    capabilities: StoreCapabilities,
    leftMs: number,
    raised: Promise<void>,
  ): Promise<(Failure & { readonly cutOff: boolean; readonly hint: readonly string[] }) | undefined> {
    const { timeoutMs } = this.#options;
    const ownMs = caseTimeout(member, timeoutMs);
    const deadline = new AbortController();
    const extra: ChatMemoryStore[] = [];
    const dying: ChatMemoryStore[] = [];
    const memoryIds = new Set<string>();
    const context = this.#context(member, capabilities, { signal: deadline.signal, extra, dying, memoryIds });
    const failure = await outcome(member.run(context), Math.min(ownMs, leftMs), deadline, raised);
    const late = failure?.late ?? false;
    const cutOff = late && leftMs < ownMs;
    const hint = late && !cutOff ? await this.#whyLate(member.name) : [];
    await outcome(this.#cleanUp(extra, dying, memoryIds), timeoutMs);
    return failure && { ...failure, cutOff, hint };
  }

  /**
   * What to tell of a case that did not end, if the clients of the run no longer answer at all. The cases after it get
   * new ones: they are not to fail by what an earlier case has kept.
   */
  async #whyLate(name: string): Promise<string[]> {
    const ms = Math.min(probeMs, this.#options.timeoutMs);
    const answers = (client: ChatMemoryStore) =>
      ends(async () => client.getMessages(`probe-${this.#nonce}`), ms);
    const own = [...new Set(this.#clients)];
    if (own.length > 0 && (await Promise.all(own.map(answers))).every(Boolean)) return [];
    await this.#closeClients();
    const [fresh] = (await this.#open().catch(() => undefined)) ?? [];
    const others =
      fresh !== undefined && (await answers(fresh))
        ? "a new client does, so the next cases have new ones"
        : "nor does a new client";
    const before = this.#lastFailed === undefined ? "" : ` (the last that failed: "${this.#lastFailed}")`;
    return [
      `the clients of the run do not even answer a read any more; ${others}. This case, or one before it${before}, has kept ` +
        "what the others wait for, such as a connection of the pool or a lock.",
      `to see whether it hangs alone: ${this.#options.repeat({ names: [name], seed: this.#options.seed })}`,
    ];
  }

  /** Runs one case inside a test of a runner, which is skipped or fails as the case does. */
  async runAsTest(member: ConformanceCase, skip: (reason: string) => void): Promise<void> {
    const result = await this.run(member);
    if (result?.status === "skipped") skip(`the store ${result.reason}`);
    if (result?.status === "warned") skip(`warning: ${result.message}`);
    if (result?.status === "failed") {
      const text = `${result.message}\nContract: ${result.sentence}\nSeed: ${this.#options.seed}`;
      throw new Error(text, { cause: result.error });
    }
  }

  /** Closes the clients and ends what the harness made. */
  async end(): Promise<void> {
    const { raised } = await watched(async () => {
      await this.#closeClients();
      await this.#answered("destroy", () => this.#harness.destroy?.());
    });
    if (raised === undefined) return;
    const text = `When the run ended, there was ${raised.how}: ${describeError(raised.error)}`;
    throw new Error(text, { cause: raised.error });
  }

  /** What a member of the harness answers. Rejects where it does not: a run that waits for ever reports nothing. */
  async #answered<T>(name: string, call: () => T | Promise<T>): Promise<T> {
    const ms = heavyFactor * this.#options.timeoutMs;
    return within(ms, call(), () => new Error(`The harness's ${name}() has not ended within ${ms} ms`));
  }

  async #open(): Promise<readonly [ChatMemoryStore, ChatMemoryStore]> {
    if (this.#clients !== undefined) return this.#clients;
    this.#opening ??= this.#createClients().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #createClients(): Promise<readonly [ChatMemoryStore, ChatMemoryStore]> {
    const first = await this.#create({});
    if (!first.capabilities.shared) {
      this.#clients = [first, first];
      return this.#clients;
    }
    try {
      const second = await this.#create({});
      if (second === first) {
        throw new TypeError(
          "The harness's create() must answer another client each time, since the store is shared",
        );
      }
      this.#clients = [first, second];
      return this.#clients;
    } catch (error) {
      await this.#close([first]);
      throw error;
    }
  }

  async #create(options: HarnessCreateOptions): Promise<ChatMemoryStore> {
    const store = await this.#answered("create", () => this.#harness.create(options));
    if (typeof store?.capabilities !== "object" || store.capabilities === null) {
      throw new TypeError("The harness's create() must answer a store with capabilities");
    }
    return store;
  }

  async #closeClients(): Promise<void> {
    const clients = new Set(this.#clients);
    this.#clients = undefined;
    await this.#close([...clients]);
  }

  /** A store that fails to close is found out by the group `lifecycle`; here it must not hide the report. */
  async #close(clients: readonly ChatMemoryStore[]): Promise<void> {
    await outcome(closed(clients), this.#options.timeoutMs);
  }

  /** Deletes what a case has left. What a faulty store does with it was the matter of the case. */
  async #cleanUp(
    extra: readonly ChatMemoryStore[],
    dying: readonly ChatMemoryStore[],
    memoryIds: ReadonlySet<string>,
  ): Promise<void> {
    // One that has died deletes nothing, and may try for long.
    const closing = closed(dying);
    try {
      const [store] = await this.#open();
      const ids = [...memoryIds];
      for (const client of [store, ...extra]) {
        for (let first = 0; first < ids.length; first += 16) {
          const some = ids.slice(first, first + 16);
          await Promise.allSettled(some.map(async (id) => client.deleteMessages(id)));
        }
      }
    } finally {
      await closed(extra);
      await closing;
    }
  }

  #context(
    member: ConformanceCase,
    capabilities: StoreCapabilities,
    own: {
      signal: AbortSignal;
      extra: ChatMemoryStore[];
      dying: ChatMemoryStore[];
      memoryIds: Set<string>;
    },
  ): ConformanceContext {
    const harness = this.#harness;
    const { seed, path } = this.#options;
    const random = createRandom(seed, member.name);
    const client = (index: 0 | 1): ChatMemoryStore => {
      if (this.#clients === undefined) throw new Error("The case goes on after it has run out of time");
      return this.#clients[index];
    };
    let count = 0;
    let moved = 0;
    const rawTexts = async (id: string) => (await harness.rawRead?.(id)) ?? [];
    const expectChanged = async (by: "rawWrite" | "rawRemove", id: string, before: readonly string[]) => {
      const after = await rawTexts(id);
      const what = `${by} of the harness changes what rawRead answers`;
      expectThat(what, after.join("\n") !== before.join("\n"), after);
    };
    const unique = () => `${hex(random)}-${this.#nonce}-${(count++).toString(36)}`;
    const context: ConformanceContext = {
      get store() {
        return client(0);
      },
      get other() {
        return client(1);
      },
      capabilities,
      harness,
      seed,
      path,
      signal: own.signal,
      random,
      unique,
      memoryId: () => {
        const id = unique();
        own.memoryIds.add(id);
        return id;
      },
      claim: async (id) => {
        own.memoryIds.add(id);
        await client(0).deleteMessages(id);
        return id;
      },
      memory: (id = context.memoryId(), store) =>
        new TestMemory({ id, client: () => store ?? client(0), version: unique }),
      create: async (options = {}) => {
        const store = await this.#create(options);
        own.extra.push(store);
        return store;
      },
      reopen: async () => {
        await this.#closeClients();
        await harness.reopen?.();
        await this.#open();
      },
      clockIsMoved: harness.advance !== undefined,
      now: () => (harness.advance === undefined ? performance.now() : moved),
      elapse: async (ms) => {
        if (harness.advance === undefined) return pass(ms);
        await harness.advance(ms);
        moved += ms;
      },
      rawText: async (id) => (await harness.rawRead?.(id))?.join("\n"),
      damage: async (id, change) => {
        const texts = await rawTexts(id);
        if (texts.length === 0) return 0;
        await harness.rawWrite?.(id, texts.map(change));
        await expectChanged("rawWrite", id, texts);
        return texts.length;
      },
      lose: async (id, isLost) => {
        const texts = await rawTexts(id);
        const index = texts.findIndex(isLost);
        if (index < 0) return false;
        await harness.rawRemove?.(id, index);
        await expectChanged("rawRemove", id, texts);
        return true;
      },
      dying: async (step, how = {}) => {
        const store = await neededFrom(harness, "fault")({ ...how, step });
        own.dying.push(store);
        return store;
      },
      given: async () => {
        const given = await neededFrom(harness, "given")();
        own.extra.push(given.store);
        return given;
      },
      counted: async () => {
        const counted = await neededFrom(harness, "counted")();
        own.extra.push(counted.store);
        return counted;
      },
    };
    return context;
  }
}

function closed(clients: readonly ChatMemoryStore[]): Promise<unknown> {
  return Promise.allSettled(clients.map(async (client) => client.close()));
}
