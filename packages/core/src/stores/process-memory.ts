import type { HistoryPage, MemorySnapshot, MessageState, StoredMessage } from "../store-contract.ts";
import { append } from "../values.ts";
import { isInPlace } from "./check-stored.ts";
import { copyMessage, withState } from "./copies.ts";
import { expiryOf, type FoldedUpdate } from "./fold-update.ts";
import type { NormalHistoryQuery } from "./queries.ts";
import { Timeline } from "./timeline.ts";

interface Row {
  message: Readonly<StoredMessage>;
  state: MessageState;
}

/** One memory kept in this process. A write costs O(1) per named message; a read costs the live messages only. */
export class ProcessMemory {
  owner: string | undefined;
  version: string | null = null;
  data: string | undefined;
  updatedAt = 0;
  /** `undefined`: never. */
  expiresAt: number | undefined;
  #nextSeq = 1;
  #head: string | undefined;
  readonly #rows: Timeline<Row> = new Timeline();
  readonly #seqsById: Map<string, number[]> = new Map();
  #live: Map<number, Row> = new Map();
  /** False once a message came back to live behind a later one; the next read sorts. */
  #liveInOrder = true;

  /** Applies an update and answers `true`, unless it is in place already; or throws and changes nothing. */
  apply(memoryId: string, update: FoldedUpdate, now: number, ttlMs: number | undefined): boolean {
    const find = (seq: number) => {
      const row = this.#rows.get(seq);
      return row && { id: row.message.id, state: row.state };
    };
    if (isInPlace(memoryId, update, this.version, { nextSeq: this.#nextSeq, find })) return false;
    const { insert, replaced, moved } = update;
    for (const row of insert) this.#insert({ message: copyMessage(row), state: row.state });
    for (const row of replaced) this.#change(row.seq, row.state, copyMessage(row));
    for (const { seq, state } of moved) this.#change(seq, state);
    this.version = update.version;
    this.updatedAt = now;
    this.expiresAt = expiryOf(update, ttlMs, now);
    this.#nextSeq = update.nextSeq;
    if (update.owner !== undefined) this.owner = update.owner;
    if (update.head !== undefined) this.#head = update.head;
    if (update.data !== undefined) this.data = update.data;
    return true;
  }

  snapshot(known: string | undefined): MemorySnapshot {
    if (!this.#liveInOrder) {
      this.#live = new Map([...this.#live].sort(([a], [b]) => a - b));
      this.#liveInOrder = true;
    }
    const snapshot: MemorySnapshot = { version: this.version, nextSeq: this.#nextSeq, messages: [] };
    if (this.owner !== undefined) snapshot.owner = this.owner;
    if (this.#head !== undefined) snapshot.head = this.#head;
    if (this.data !== undefined) snapshot.data = this.data;
    if (this.version === known) snapshot.unchanged = true;
    else snapshot.messages = Array.from(this.#live.values(), ({ message }) => copyMessage(message));
    return snapshot;
  }

  history(query: NormalHistoryQuery): HistoryPage {
    const { limit, states } = query;
    const messages: HistoryPage["messages"] = [];
    for (const { message, state } of query.ids === undefined
      ? this.#rows.between(query.after, query.before, query.order)
      : this.#rowsOf(query.ids, query)) {
      if (!states.includes(state)) continue;
      if (messages.length === limit) return { messages, hasMore: true };
      messages.push(withState(message, state));
    }
    return { messages, hasMore: false };
  }

  #rowsOf(ids: readonly string[], { after, before, order }: NormalHistoryQuery): Row[] {
    const seqs = ids
      .flatMap((id) => this.#seqsById.get(id) ?? [])
      .filter((seq) => seq > after && seq < before)
      .sort((a, b) => (order === "ascending" ? a - b : b - a));
    return seqs.map((seq) => this.#rows.get(seq) as Row);
  }

  #insert(row: Row): void {
    const { seq, id } = row.message;
    append(this.#seqsById, id, seq);
    this.#rows.append(seq, row);
    if (row.state === "live") this.#live.set(seq, row);
  }

  #change(seq: number, state: MessageState | "removed", message?: StoredMessage): void {
    if (state === "removed") {
      this.#remove(seq);
      return;
    }
    const row = this.#rows.get(seq) as Row;
    if (message !== undefined) row.message = message;
    if (state === row.state) return;
    row.state = state;
    if (state === "live") {
      this.#live.set(seq, row);
      this.#liveInOrder = false;
    } else {
      this.#live.delete(seq);
    }
  }

  #remove(seq: number): void {
    const { id } = (this.#rows.get(seq) as Row).message;
    const others = this.#seqsById.get(id)?.filter((other) => other !== seq) ?? [];
    if (others.length === 0) this.#seqsById.delete(id);
    else this.#seqsById.set(id, others);
    this.#rows.delete(seq);
    this.#live.delete(seq);
  }
}
