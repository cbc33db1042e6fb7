import { TurnkeepError } from "../errors.ts";
import type { TransactionOptions } from "../memory-call-options.ts";
import type { Entry } from "../memory-entry.ts";
import type { MemorySettings } from "../memory-settings.ts";
import type { MemoryTransaction } from "../memory-transaction.ts";
import { wrongOption } from "../option-checks.ts";
import { checkMessageId } from "../stores/checks.ts";
import type { Reading } from "./attempt.ts";
import { takeConflictOptions, takePutRules, takeRemoveRules, takeSignal } from "./call-options.ts";
import { type Change, type Changes, inOrder } from "./changes.ts";
import { Draft, type Prepared } from "./draft.ts";
import { liveMessage, readHistory, takeQuery } from "./history.ts";
import type { Base, Session } from "./session.ts";
import type { Views } from "./views.ts";
import type { Writer } from "./writer.ts";

/** The parts of a memory that a transaction works with. */
interface MemoryParts<M> {
  readonly settings: MemorySettings<M>;
  readonly session: Session<M>;
  readonly views: Views<M>;
  readonly changes: Changes<M>;
  readonly writer: Writer<M>;
}

/** Runs the function with a transaction, then commits at once what it collected. */
export async function transact<M, T>(
  parts: MemoryParts<M>,
  run: (transaction: MemoryTransaction<M>) => T | Promise<T>,
  options: TransactionOptions | undefined,
): Promise<T> {
  const { session, writer } = parts;
  session.checkOpen();
  if (typeof run !== "function") throw wrongOption("transaction's argument", run, "a function");
  const { mustExist, onConflict, signal } = takeConflictOptions("transaction", options);
  const collection = new Collection(parts, signal);
  if (onConflict === "throw") await collection.look();
  let result: T;
  try {
    result = await run(collection.transaction);
  } finally {
    collection.end();
  }
  const { change, base } = collection;
  if (change !== undefined)
    await writer.commit(change, { signal, mustExist, base: onConflict === "merge" ? undefined : base });
  return result;
}

/** What a transaction has collected, and the state on which that was decided. */
class Collection<M> {
  readonly #parts: MemoryParts<M>;
  readonly #signal: AbortSignal | undefined;
  readonly #changes: Change<M>[] = [];
  /** The messages of the newest change, if it adds: those added one after the other are one change. */
  #adding: Prepared<M>[] | undefined;
  #base: Base | undefined;
  #isOpen = true;

  constructor(parts: MemoryParts<M>, signal: AbortSignal | undefined) {
    this.#parts = parts;
    this.#signal = signal;
  }

  /** Everything as one change; `undefined` if nothing was collected. */
  get change(): Change<M> | undefined {
    return this.#changes.length === 0 ? undefined : inOrder(this.#changes);
  }

  get base(): Base | "looked" | undefined {
    return this.#base ?? (this.change?.looks === true ? "looked" : undefined);
  }

  end(): void {
    this.#isOpen = false;
  }

  /** Holds on to the state as it is now. */
  look(): Promise<void> {
    return this.#read(undefined, () => undefined);
  }

  /** What the application's function works with. It may take the methods apart. */
  get transaction(): MemoryTransaction<M> {
    const { changes, views } = this.#parts;
    return {
      add: ((...messages: (M | Entry<M>)[]) =>
        this.#add(changes.prepare(messages))) as MemoryTransaction<M>["add"],
      instruct: (message) => this.#add(changes.prepareInstruction(message))[0] as string,
      put: (id, message, options) => this.#take(changes.put(id, message, takePutRules(options))),
      remove: (messageId, options) => {
        checkMessageId(messageId);
        this.#take(changes.remove(messageId, takeRemoveRules(options).only));
      },
      rewind: (messageId) => {
        checkMessageId(messageId);
        this.#take(changes.rewind(messageId));
      },
      restore: (messageId) => {
        checkMessageId(messageId);
        this.#take(changes.restore(messageId));
      },
      compact: (request) => {
        const change = changes.compact(request);
        this.#take(change);
        return change.ids[0] as string;
      },
      set: (messages) => {
        const change = changes.set(messages);
        this.#take(change);
        return [...change.ids];
      },
      update: (data) => this.#take(changes.update(data)),
      messages: async (options) => {
        const asked = views.ask(options);
        return this.#read(asked.signal, (reading) => views.show(reading, asked));
      },
      entries: async (options) =>
        this.#read(takeSignal("entries", options), ({ loaded }) => loaded.live.items.map(liveMessage)),
      history: async (query = {}) => {
        const { signal, branches, ...asked } = takeQuery(query);
        return this.#read(signal, (reading) =>
          readHistory(asked, reading, branches ? reading.loaded.lost : undefined),
        );
      },
    };
  }

  #checkOpen(): void {
    if (!this.#isOpen) throw new TurnkeepError("CLOSED", "The transaction has ended; start another one.");
  }

  #add(prepared: readonly Prepared<M>[]): string[] {
    this.#checkOpen();
    if (this.#adding === undefined) {
      this.#adding = [];
      this.#changes.push(this.#parts.changes.add(this.#adding));
    }
    this.#adding.push(...prepared);
    return prepared.map(({ id }) => id);
  }

  #take(change: Change<M>): void {
    this.#checkOpen();
    this.#adding = undefined;
    this.#changes.push(change);
  }

  /** Reads the memory and shows it as what was collected so far would leave it. The first read is what is decided on. */
  #read<T>(signal: AbortSignal | undefined, show: (reading: Reading<M>) => T | Promise<T>): Promise<T> {
    const { session } = this.#parts;
    return session.run(signal ?? this.#signal, (call) => {
      this.#checkOpen();
      return session.look(call, async (reading) => {
        this.#base ??= { version: reading.loaded.version };
        const { change } = this;
        return show(change === undefined ? reading : await this.#changed(reading, change));
      });
    });
  }

  async #changed(reading: Reading<M>, { plan }: Change<M>): Promise<Reading<M>> {
    const { settings, views } = this.#parts;
    const { loaded, call } = reading;
    const limits = await views.limits(call);
    const draft = new Draft({ ...loaded, live: loaded.live.copy() }, settings);
    await plan({ ...reading, draft, limits });
    return { ...reading, loaded: draft.loaded(loaded.version), draft };
  }
}
