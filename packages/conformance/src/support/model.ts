import type {
  HistoryPage,
  HistoryQuery,
  MemorySnapshot,
  MemoryUpdate,
  MessageState,
  StoredMessage,
} from "@turnkeep/core";

type Row = StoredMessage & { state: MessageState };

/** What one memory should hold: the contract in its plainest form, against which stores are compared. */
export class MemoryModel {
  version: string | null = null;
  nextSeq = 1;
  owner: string | undefined;
  head: string | undefined;
  data: string | undefined;
  rows: Map<number, Row> = new Map();
  readonly #keepsHistory: boolean;

  constructor(keepsHistory: boolean) {
    this.#keepsHistory = keepsHistory;
  }

  /** Applies an update whose `expected` is the version in place. */
  apply(update: MemoryUpdate): void {
    if (update.owner !== undefined) this.owner = update.owner;
    if (update.head !== undefined) this.head = update.head;
    if (update.data !== undefined) this.data = update.data;
    for (const message of update.append) this.rows.set(message.seq, { ...message, state: "live" });
    for (const message of update.replace) {
      this.rows.set(message.seq, { ...message, state: message.state ?? "live" });
    }
    for (const { seq, to } of update.move) {
      const row = this.rows.get(seq);
      if (row === undefined) throw new Error(`The kit moved seq ${seq}, which is not there`);
      if (to === "removed" || (to !== "live" && !this.#keepsHistory)) this.rows.delete(seq);
      else row.state = to;
    }
    this.version = update.version;
    this.nextSeq = update.nextSeq;
  }

  delete(): void {
    this.version = null;
    this.nextSeq = 1;
    this.owner = undefined;
    this.head = undefined;
    this.data = undefined;
    this.rows = new Map();
  }

  /** All rows by ascending `seq`. */
  all(): Row[] {
    return [...this.rows.values()].sort((a, b) => a.seq - b.seq);
  }

  seqs(state: MessageState): number[] {
    return this.all().flatMap((row) => (row.state === state ? [row.seq] : []));
  }

  snapshot(): MemorySnapshot {
    const { version, nextSeq, owner, head, data } = this;
    const messages = this.all().flatMap(({ state, ...message }) => (state === "live" ? [message] : []));
    return { version, nextSeq, owner, head, data, messages };
  }

  history(query: HistoryQuery): HistoryPage {
    const { after = 0, before = Number.POSITIVE_INFINITY, order, limit = 100, states, ids } = query;
    const found = this.all().filter(
      ({ seq, state, id }) =>
        seq > after &&
        seq < before &&
        (states === undefined || states.includes(state)) &&
        (ids === undefined || ids.includes(id)),
    );
    if (order === "descending") found.reverse();
    return { messages: found.slice(0, limit), hasMore: found.length > limit };
  }
}
