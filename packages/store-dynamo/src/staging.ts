import { randomUUID } from "node:crypto";
import type { Item, Run } from "./client.ts";
import type { Head } from "./heads.ts";
import type { Action, Condition, Items, Work } from "./items.ts";
import { chunks, inTurn, type Reads } from "./reads.ts";

/** What the database takes in one `BatchWriteItem`: 25 items, and 16 MB, which as many of 400 KB never reach. */
const writesAtOnce = 25;

/** Nobody has given it up. */
const isStaging: Condition = {
  expression: "stage = :staging",
  values: { ":staging": { S: "staging" } },
};

/** What is written before an update counts, and removed after something counts no more. */
export class Staging {
  readonly #items: Items;
  readonly #reads: Reads;

  constructor(items: Items, reads: Reads) {
    this.#items = items;
    this.#reads = reads;
  }

  /** Writes parts where nobody looks for them, after the work item that tells a sweep of them. */
  async begin(run: Run, work: Work, parts: readonly Item[]): Promise<void> {
    await run(this.#items.alone(this.#items.put(this.#items.workItem(work))));
    await this.putAll(run, parts);
  }

  /** What the transaction of an update does about its work item, unless a sweep gave it up: `next` is left to do. */
  commit(work: Work, isBegun: boolean, next: Work | undefined): Action[] {
    const condition = isBegun ? isStaging : undefined;
    if (next !== undefined) return [this.#items.put(this.#items.workItem(next), condition)];
    return isBegun ? [this.#items.delete(this.#items.workKey(work), condition)] : [];
  }

  /** Removes what was staged and is not committed, and sees to it that it never will be. `false`: it is. */
  async abandon(run: Run, work: Work): Promise<boolean> {
    const ending = this.#items.workItem({ ...work, stage: "ending" });
    const put = this.#items.put(ending, isStaging);
    if ((await run(this.#items.alone(put))).refused !== undefined) return false;
    await this.finish(run, work);
    return true;
  }

  /** Ends a life: from then on the memory is absent, and what it had goes. `false`: the action on the head was refused. */
  async end(
    run: Run,
    memory: string,
    { life, owner }: Pick<Head, "life" | "owner">,
    head: Action,
  ): Promise<boolean> {
    const items = this.#items;
    const about = { memory, life, token: "", prefixes: [`${life}/`] };
    const work: Work = { ...about, stage: "ending", updatedAt: Date.now() };
    const entries = items.entryKeys(memory, life, owner).map((key) => items.delete(key));
    const actions = [head, ...entries, items.put(items.workItem(work))];
    const { refused } = await run(items.transact(actions, randomUUID(), true));
    if (refused !== undefined) return false;
    await this.finish(run, work);
    return true;
  }

  /** The action with which {@link end} ends a life that has run out. */
  expire(memoryId: string, life: string): Action {
    const values = { ":life": { S: life }, ":now": { N: String(Date.now()) } };
    const expression = "life = :life AND endsAt <= :now";
    return this.#items.delete(this.#items.headKey(memoryId), { expression, values });
  }

  /** Does what the update before has left to do. Nothing may be changed that it changes until then. */
  async catchUp(run: Run, memory: string, { life, pending }: Head): Promise<void> {
    if (pending === undefined) return;
    const { Item: item } = await run(this.#items.get(this.#items.workKey({ memory, life, token: pending })));
    if (item !== undefined) await this.finish(run, this.#items.workOf(item));
  }

  /** Puts the pending rows of a committed update in their places. By several at once, at any time: none is put twice. */
  async #apply(run: Run, { memory, life, token }: Work): Promise<void> {
    const items = this.#items;
    const pending = await this.#reads.all(run, (start) => items.pending(memory, life, token, start));
    await inTurn(pending, (row) => run(items.alone(items.place(row), true)));
    await run(items.alone(items.settle(memory, token), true));
  }

  /** Does what a work item is about, removes what is left over, then the work item. */
  async finish(run: Run, work: Work): Promise<void> {
    const items = this.#items;
    if (work.stage === "applying") await this.#apply(run, work);
    for (const from of work.prefixes) {
      const query = (start: Item | undefined) =>
        items.query(items.partition(work.memory), { from }, { start, keysOnly: true });
      await this.deleteAll(run, await this.#reads.all(run, query));
    }
    await run(items.alone(items.delete(items.workKey(work))));
  }

  async putAll(run: Run, puts: readonly Item[]): Promise<void> {
    await inTurn(chunks(puts, writesAtOnce), (batch) => run(this.#items.batch(batch, [])));
  }

  async deleteAll(run: Run, keys: readonly Item[]): Promise<void> {
    await inTurn(chunks(keys, writesAtOnce), (batch) => run(this.#items.batch([], batch)));
  }
}
