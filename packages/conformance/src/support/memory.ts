import type {
  ChatMemoryStore,
  HistoryPage,
  HistoryQuery,
  MemoryUpdate,
  MessageState,
  StoredMessage,
  TurnkeepErrorCode,
} from "@turnkeep/core";
import { isTurnkeepError } from "@turnkeep/core/store-kit";
import { expectCode, expectPage, expectRead, expectSnapshot, named } from "./expect.ts";
import { MemoryModel } from "./model.ts";
import { all } from "./races.ts";

/** A change in short: what it does not name is empty or as it was. */
export interface Change {
  /** So many plain messages, or messages of which the named members are given. */
  readonly append?: number | readonly Partial<StoredMessage>[] | undefined;
  /** Messages by `seq`, with what is new of them. */
  readonly replace?: readonly (Pick<StoredMessage, "seq"> &
    Partial<Pick<StoredMessage, "createdAt" | "payload" | "meta">>)[];
  readonly move?: readonly { readonly seq: number; readonly to: MessageState | "removed" }[] | undefined;
  readonly head?: string | undefined;
  readonly data?: string | undefined;
  readonly owner?: string | undefined;
  readonly ttlMs?: number | null | undefined;
  /** Default: one after the last message. */
  readonly nextSeq?: number | undefined;
}

export type TestMemoryOptions = {
  readonly id: string;
  /** The client that writes and reads unless another is named. */
  readonly client: () => ChatMemoryStore;
  readonly version: () => string;
};

/** One memory in the store, beside the model of what it should hold. */
export class TestMemory {
  readonly id: string;
  readonly model: MemoryModel;
  readonly #options: TestMemoryOptions;

  constructor(options: TestMemoryOptions) {
    this.id = options.id;
    this.#options = options;
    this.model = new MemoryModel(options.client().capabilities.history);
  }

  /** A plain message: every other one with meta. */
  message(seq: number, over: Partial<StoredMessage> = {}): StoredMessage {
    const plain = {
      id: `m${seq}`,
      seq,
      createdAt: 1_700_000_000_000 + (seq % 1_000_000),
      payload: `{"n":${seq}}`,
    };
    return seq % 2 === 0 ? { ...plain, meta: `{"tokens":${seq}}`, ...over } : { ...plain, ...over };
  }

  /** The update that makes `change` of the present state; nothing is sent. */
  update(change: Change = {}): MemoryUpdate {
    const { version: expected, nextSeq: first } = this.model;
    const { owner, head, data, ttlMs, move = [] } = change;
    const list = typeof change.append === "number" ? Array.from({ length: change.append }, () => ({})) : [];
    let seq = first - 1;
    const append = (typeof change.append === "object" ? change.append : list).map(
      (over: Partial<StoredMessage>) => {
        seq = over.seq ?? seq + 1;
        return this.message(seq, over);
      },
    );
    const replace = (change.replace ?? []).map(({ seq, ...over }) => {
      const row = this.model.rows.get(seq);
      if (row === undefined) throw new Error(`The kit replaced seq ${seq}, which is not there`);
      const { state, meta: _, ...message } = row;
      return state === "evicted" ? { ...message, ...over, state } : { ...message, ...over };
    });
    return {
      expected,
      version: this.#options.version(),
      nextSeq: change.nextSeq ?? seq + 1,
      ...(owner === undefined ? {} : { owner }),
      ...(head === undefined ? {} : { head }),
      ...(data === undefined ? {} : { data }),
      ...(ttlMs === undefined ? {} : { ttlMs }),
      append,
      replace,
      move: move.map((entry) => ({ ...entry })),
    };
  }

  /** Sends an update, by default with the first client; the model follows once it succeeded. */
  async send(update: MemoryUpdate, client: ChatMemoryStore = this.#options.client()): Promise<void> {
    const call = `updateMessages, ${describeUpdate(update)}`;
    await named(call, client.updateMessages(this.id, update));
    this.model.apply(update);
  }

  /** Makes and sends the update of a change. Answers the update. */
  async commit(change: Change = {}, client?: ChatMemoryStore): Promise<MemoryUpdate> {
    const update = this.update(change);
    await this.send(update, client);
    return update;
  }

  /** Fails unless the store refuses an update with this code. Answers the error. */
  async refused(
    what: string,
    code: TurnkeepErrorCode,
    update: MemoryUpdate,
    client: ChatMemoryStore = this.#options.client(),
  ): Promise<Error> {
    return expectCode(what, code, () => client.updateMessages(this.id, update));
  }

  /** Sends an update; answers whether the store took it, or refused it with this code. */
  async takes(update: MemoryUpdate, code: TurnkeepErrorCode): Promise<boolean> {
    try {
      await this.send(update);
      return true;
    } catch (error) {
      if (isTurnkeepError(error, code)) return false;
      throw error;
    }
  }

  async delete(client: ChatMemoryStore = this.#options.client()): Promise<void> {
    await named("deleteMessages", client.deleteMessages(this.id));
    this.model.delete();
  }

  /** Fails unless `getMessages` and, where there is a history, `getHistory` answer what the model says. */
  async check(what: string, client: ChatMemoryStore = this.#options.client()): Promise<void> {
    const call = `getMessages ${what}`;
    const read = async () => {
      expectSnapshot(call, await named(call, client.getMessages(this.id)), this.model.snapshot());
    };
    const page = async () => {
      if (client.capabilities.history) await this.checkHistory(what, {}, client);
    };
    await all([read(), page()]);
  }

  /** Fails unless `getMessages` answers who knows that version as it may. */
  async checkKnown(
    what: string,
    known: string,
    client: ChatMemoryStore = this.#options.client(),
  ): Promise<void> {
    const call = `getMessages ${what}`;
    const snapshot = await named(call, client.getMessages(this.id, { known }));
    expectRead(call, snapshot, this.model.snapshot(), known);
  }

  /** Fails unless `getHistory` answers this query as the model does. */
  async checkHistory(
    what: string,
    query: HistoryQuery,
    client: ChatMemoryStore = this.#options.client(),
  ): Promise<HistoryPage> {
    const call = `getHistory ${what}`;
    const page = await named(call, client.getHistory(this.id, query));
    expectPage(call, page, this.model.history(query));
    return page;
  }
}

/** What an update does, in a few words. */
export function describeUpdate(update: MemoryUpdate): string {
  const { expected, append, replace, move, nextSeq } = update;
  const parts: string[] = [];
  if (append.length > 0) parts.push(`append ${some(append.map(({ seq }) => seq))}`);
  if (replace.length > 0) parts.push(`replace ${some(replace.map(({ seq }) => seq))}`);
  if (move.length > 0) parts.push(`move ${some(move.map(({ seq, to }) => `${seq} to ${to}`))}`);
  for (const name of ["head", "data", "owner", "ttlMs"] as const)
    if (update[name] !== undefined) parts.push(name);
  const last = append.at(-1)?.seq;
  if (last !== undefined && nextSeq > last + 1) parts.push(`nextSeq ${nextSeq}`);
  return `${expected === null ? "begin" : "update"} (${parts.join("; ")})`;
}

function some(names: readonly (number | string)[]): string {
  return names.length <= 8 ? names.join(", ") : `${names.slice(0, 6).join(", ")}, … ${names.length} in all`;
}
