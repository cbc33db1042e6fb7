import type { StoredMessage } from "@turnkeep/core";
import { corruptError } from "@turnkeep/core/store-kit";
import type { Item, Statement } from "./client.ts";
import {
  decodeLive,
  type Head,
  headOf,
  type Items,
  type Live,
  largeSign,
  number,
  type Page,
  type Place,
  type Row,
  runsOf,
  text,
  type Work,
} from "./items.ts";

export type Run = <A>(statement: Statement<A>) => Promise<A>;

/** How many operations of one call are under way at a time. */
const atOnce = 8;

/** What the database takes in one `BatchGetItem` and one `BatchWriteItem`. */
const keysAtOnce = 100;
const writesAtOnce = 25;

/** How many large messages one query reads. */
const largeAtOnce = 4;

/** The messages of a range: those that count, by seq, and where to go on; absent: there are no more. */
export interface RowPage {
  readonly rows: Row[];
  readonly next: Item | undefined;
}

/** What takes several operations: reading messages, and writing and removing more than fits into one. */
export class Records {
  readonly #items: Items;

  constructor(items: Items) {
    this.#items = items;
  }

  /** `undefined`: there is none. One that has expired is there still. */
  async head(run: Run, memoryId: string): Promise<Head | undefined> {
    const { Item: item } = await run(this.#items.get(this.#items.headKey(memoryId)));
    if (item === undefined) return undefined;
    const head = headOf(item);
    if (head === undefined) throw corruptError(memoryId, "its head lacks a part");
    return head;
  }

  live(memoryId: string, head: Pick<Head, "live">): Map<number, Place> {
    const live = decodeLive(head.live);
    if (live === undefined) throw corruptError(memoryId, "its head does not say which messages are live");
    return live;
  }

  /**
   * The live messages by seq. Or the seq of one that is not there as the head says, because an update took place in
   * between or takes place now.
   */
  async liveMessages(
    run: Run,
    memoryId: string,
    { life }: Head,
    live: Live,
  ): Promise<StoredMessage[] | number> {
    const items = this.#items;
    const runs = runsOf(live.keys());
    // A single message far from the others is fetched by its key, many such at once.
    const isAlone = ({ from, to }: { from: number; to: number }): boolean =>
      from === to && live.get(from)?.token === "";
    const keys = runs.filter(isAlone).map(({ from }) => items.rowKey(memoryId, life, from, ""));
    // The pages of one query come one after the other: what is large is asked for in several.
    const isLarge = ({ from }: { from: number }): boolean =>
      live.get(from)?.token.endsWith(largeSign) === true;
    const queried = runs
      .filter((range) => !isAlone(range))
      .flatMap((range) => (isLarge(range) ? split(range, largeAtOnce) : [range]));
    const found = await Promise.all([
      this.getAll(run, keys),
      inTurn(queried, (range) => this.#all(run, (start) => items.rows(memoryId, life, range, { start }))),
    ]);
    const rows = new Map(
      this.#rowsIn(memoryId, found.flat(2)).map((row) => [`${row.seq}/${row.token}`, row]),
    );
    const messages: StoredMessage[] = [];
    for (const [seq, { token, edit }] of [...live].sort(([a], [b]) => a - b)) {
      const row = rows.get(`${seq}/${token}`);
      if (row === undefined || row.edit !== edit) return seq;
      messages.push(messageOf(row));
    }
    return messages;
  }

  /** One page of the messages between two seqs, both included. */
  async page(
    run: Run,
    memoryId: string,
    life: string,
    range: { from: number; to: number },
    options: { start?: Item | undefined; limit?: number; descending?: boolean } = {},
  ): Promise<RowPage> {
    const items: Item[] = [];
    let next = options.start;
    do {
      const page = await run(this.#items.rows(memoryId, life, range, { ...options, start: next }));
      items.push(...(page.Items ?? []));
      next = page.LastEvaluatedKey;
      // What belongs to one seq may go over a page's end.
    } while (next !== undefined && this.#seqsIn(items).size < 2);
    const last = next === undefined ? undefined : [...this.#seqsIn(items)].at(-1);
    const whole = items.filter((item) => this.#items.seqOf(item) !== last);
    const rows = await this.#counting(run, memoryId, life, this.#rowsIn(memoryId, whole));
    if (options.descending) rows.reverse();
    const end = whole.at(-1);
    return { rows, next: next === undefined || end === undefined ? undefined : this.#items.keyOf(end) };
  }

  /** The messages with these seqs, as far as they are there. */
  async rowsAt(run: Run, memoryId: string, life: string, seqs: Iterable<number>): Promise<Row[]> {
    const runs = runsOf(seqs);
    const found = await inTurn(runs, (range) =>
      this.#all(run, (start) => this.#items.rows(memoryId, life, range, { start })),
    );
    return this.#counting(run, memoryId, life, this.#rowsIn(memoryId, found.flat()));
  }

  /** The seqs that messages with these ids have or had. */
  async seqsOf(run: Run, memoryId: string, life: string, ids: readonly string[]): Promise<number[]> {
    const items = this.#items;
    const found = await inTurn(ids, async (id) => {
      const begin = items.idPrefix(life, id);
      const entries = await this.#all(run, (start) =>
        items.query(items.partition(memoryId), { from: begin }, { start }),
      );
      // An id may itself end as another's key goes on.
      return entries.flatMap((item) => {
        const seq = /^(\d{16})\/[\w.-]*$/.exec(items.sortOf(item).slice(begin.length))?.[1];
        return seq === undefined ? [] : [Number(seq)];
      });
    });
    return found.flat();
  }

  /** Which of these seqs, none of them live, are superseded, and which removed though their rows may still be there. */
  async marks(
    run: Run,
    memoryId: string,
    life: string,
    seqs: readonly number[],
  ): Promise<{ superseded: Set<number>; removed: Set<number> }> {
    const keys = new Map(
      seqs.map((seq) => {
        const key = this.#items.blockKey(memoryId, life, seq);
        return [this.#items.sortOf(key), key];
      }),
    );
    const blocks = await this.getAll(run, [...keys.values()]);
    const all = (kind: "superseded" | "removed"): Set<number> =>
      new Set(blocks.flatMap((block) => this.#items.marksOf(block, kind)));
    return { superseded: all("superseded"), removed: all("removed") };
  }

  async getAll(run: Run, keys: readonly Item[]): Promise<Item[]> {
    const batches = chunks(keys, keysAtOnce);
    const found = await inTurn(batches, (batch) => run(this.#items.getAll(batch)));
    return found.flatMap(({ Responses }) => Object.values(Responses ?? {}).flat());
  }

  async putAll(run: Run, puts: readonly Item[]): Promise<void> {
    // The database takes 16 MB at once, and an item has 400 KB at most.
    await inTurn(chunks(puts, writesAtOnce), (batch) => run(this.#items.batch(batch, [])));
  }

  /** Removes what a work item is about, then the work item. */
  async finish(run: Run, work: Work): Promise<void> {
    const { memory, life, stage } = work;
    const items = this.#items;
    if (stage === "ended") {
      await this.#removeAll(run, (start) =>
        items.query(items.partition(memory), { from: `${life}/` }, { start, keysOnly: true }),
      );
    } else {
      const rows = decodeLive(work.rows) ?? new Map<number, Place>();
      for (const range of runsOf(rows.keys())) {
        const isOurs = (item: Item): boolean => {
          const { seq, token } = this.#placeOf(item);
          return rows.get(seq)?.token === token;
        };
        const read = (start: Item | undefined): Statement<Page> =>
          items.rows(memory, life, range, { start, keysOnly: true });
        await this.#removeAll(run, read, isOurs, (item) => {
          const { seq, token } = this.#placeOf(item);
          const id = text(item.id);
          return id === undefined ? [] : [items.idKey(memory, life, id, seq, token)];
        });
      }
    }
    await run(items.alone(items.delete(items.workKey(work))));
  }

  /** Deletes what is read, page by page; before a row what leads to it. */
  async #removeAll(
    run: Run,
    read: (start: Item | undefined) => Statement<Page>,
    isMeant: (item: Item) => boolean = () => true,
    before: (item: Item) => Item[] = () => [],
  ): Promise<void> {
    let start: Item | undefined;
    do {
      const page = await run(read(start));
      const meant = (page.Items ?? []).filter(isMeant);
      for (const keys of [meant.flatMap(before), meant.map((item) => this.#items.keyOf(item))]) {
        await inTurn(chunks(keys, writesAtOnce), (batch) => run(this.#items.batch([], batch)));
      }
      start = page.LastEvaluatedKey;
    } while (start !== undefined);
  }

  async #all(run: Run, read: (start: Item | undefined) => Statement<Page>): Promise<Item[]> {
    const items: Item[] = [];
    let start: Item | undefined;
    do {
      const page = await run(read(start));
      items.push(...(page.Items ?? []));
      start = page.LastEvaluatedKey;
    } while (start !== undefined);
    return items;
  }

  /**
   * By seq, the rows that count: a row of a staged update does if the update was committed, and the latest of a seq.
   * Whether it was is asked after the rows were read: what was committed meanwhile counts, what was not never will.
   */
  async #counting(run: Run, memoryId: string, life: string, rows: readonly Row[]): Promise<Row[]> {
    const tokens = new Set(rows.map(({ token }) => token).filter((token) => token !== ""));
    const markers = await this.getAll(
      run,
      [...tokens].map((token) => this.#items.markerKey(memoryId, life, token)),
    );
    const committed = new Set(["", ...markers.map((marker) => this.#items.sortOf(marker).split("/").at(-1))]);
    const latest = new Map<number, Row>();
    for (const row of rows) {
      const rival = latest.get(row.seq)?.token ?? "";
      if (committed.has(row.token) && row.token >= rival) latest.set(row.seq, row);
    }
    return [...latest.values()].sort((a, b) => a.seq - b.seq);
  }

  /** Rows with their parts; one that lacks a part is left out. */
  #rowsIn(memoryId: string, found: readonly Item[]): Row[] {
    const parts = new Map(found.map((item) => [this.#items.sortOf(item), item]));
    return found.flatMap((item) => {
      const { seq, token, part } = this.#placeOf(item);
      if (part !== undefined) return [];
      const sort = this.#items.sortOf(item);
      const count = number(item.parts) ?? 0;
      const pieces: Item[] = [item];
      for (let index = 0; index < count; index++) {
        const piece = parts.get(`${sort}/${String(index).padStart(4, "0")}`);
        if (piece === undefined) return [];
        pieces.push(piece);
      }
      const all = (name: string): string | undefined => {
        const texts = pieces.flatMap((piece) => text(piece[name]) ?? []);
        return texts.length === 0 ? undefined : texts.join("");
      };
      const [id, payload, meta] = [text(item.id), all("payload"), all("meta")];
      const createdAt = number(item.createdAt);
      if (id === undefined || payload === undefined || createdAt === undefined) {
        throw corruptError(memoryId, `its message at seq ${seq} lacks a part`, {
          messageIds: id === undefined ? undefined : [id],
        });
      }
      const row = { id, seq, createdAt, payload, token, edit: number(item.edit) ?? 0, parts: count };
      return [meta === undefined ? row : { ...row, meta }];
    });
  }

  #placeOf(item: Item): { seq: number; token: string; part: string | undefined } {
    const [, , seq, token = "", part] = this.#items.sortOf(item).split("/");
    return { seq: Number(seq), token, part };
  }

  #seqsIn(items: readonly Item[]): Set<number> {
    return new Set(items.map((item) => this.#items.seqOf(item)));
  }
}

export function messageOf({ id, seq, createdAt, payload, meta }: Row): StoredMessage {
  return meta === undefined ? { id, seq, createdAt, payload } : { id, seq, createdAt, payload, meta };
}

function split({ from, to }: { from: number; to: number }, size: number): { from: number; to: number }[] {
  return Array.from({ length: Math.ceil((to - from + 1) / size) }, (_, index) => ({
    from: from + index * size,
    to: Math.min(from + (index + 1) * size - 1, to),
  }));
}

export function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}

/** The answers in the order of the list, some calls at a time. */
export async function inTurn<T, A>(list: readonly T[], call: (entry: T) => Promise<A>): Promise<A[]> {
  const answers: A[] = [];
  for (const batch of chunks(list, atOnce)) answers.push(...(await Promise.all(batch.map(call))));
  return answers;
}
