import { randomBytes, randomUUID } from "node:crypto";
import type { MemoryUpdate } from "@turnkeep/core";
import { checkAgainstStored, foldUpdate, invalidOption, isTurnkeepError } from "@turnkeep/core/store-kit";
import type { Item } from "./client.ts";
import {
  type Action,
  type Base,
  bytesOf,
  encodeLive,
  type Head,
  headOf,
  type Items,
  isPresent,
  largeSign,
  type Place,
  partBytes,
  text,
  type Work,
} from "./items.ts";
import type { Records, Run } from "./records.ts";

/** What one transaction takes; what is above is staged. The database would take 4 MB, at twice the price of staging. */
const actionsAtOnce = 100;
const bytesAtOnce = 1_000_000;

/** An item has 400 KB at most, and the rest of a head some 20. */
const liveBytes = 350 * 1024;

/** What is to be done for an update. */
interface Plan {
  /** The first one writes the head. */
  readonly actions: readonly Action[];
  readonly after: Base;
  /** Too much for one transaction. */
  readonly isTooMuch: boolean;
  readonly staged: Staged | undefined;
}

interface Staged {
  readonly work: Work;
  readonly rows: readonly Item[];
  readonly ids: readonly Item[];
  /** The rows that are to go once the update is committed. */
  readonly garbage: string;
}

/** Changes of a memory, each of which readers see at once or not at all. */
export class Updates {
  readonly #items: Items;
  readonly #records: Records;

  constructor(items: Items, records: Records) {
    this.#items = items;
    this.#records = records;
  }

  /** Answers the state after the update; `undefined`: it was refused, and the head says why. */
  async apply(run: Run, memoryId: string, change: MemoryUpdate, base: Base): Promise<Base | undefined> {
    for (let isStaged = false; ; ) {
      const plan = await this.#plan(run, memoryId, change, base, isStaged);
      if (plan === undefined) return undefined;
      isStaged ||= plan.isTooMuch;
      if (isStaged && plan.staged === undefined) continue;
      const outcome =
        plan.staged === undefined
          ? await this.#commit(run, memoryId, change, plan)
          : await this.#stage(run, memoryId, change, plan, plan.staged);
      if (outcome === "done") return plan.after;
      if (outcome === "refused") return undefined;
      isStaged ||= outcome === "stage";
    }
  }

  /** Ends a life: from then on the memory is absent, and what it had goes. `false`: the action on the head was refused. */
  async end(
    run: Run,
    memory: string,
    { life, owner }: Pick<Head, "life" | "owner">,
    head: Action,
  ): Promise<boolean> {
    const items = this.#items;
    const work: Work = { memory, life, token: "", stage: "ended", rows: "", updatedAt: Date.now() };
    const entries = items.entryKeys(memory, life, owner).map((key) => items.delete(key));
    const actions = [head, ...entries, items.put(items.workItem(work))];
    const { refused } = await run(items.transact(actions, randomUUID(), true));
    if (refused !== undefined) return false;
    await this.#records.finish(run, work);
    return true;
  }

  /** The action with which {@link end} ends a life that has run out. */
  expire(memoryId: string, life: string): Action {
    const values = { ":life": { S: life }, ":now": { N: String(Date.now()) } };
    return this.#items.delete(this.#items.headKey(memoryId), "life = :life AND endsAt <= :now", values);
  }

  /** Removes a staged update that is not committed, and sees to it that it never will be. `false`: it is. */
  async abandon(run: Run, work: Work): Promise<boolean> {
    const dead = this.#items.workItem({ ...work, stage: "dead" });
    const put = this.#items.put(dead, "stage = :staging", { ":staging": { S: "staging" } });
    if ((await run(this.#items.alone(put))).refused !== undefined) return false;
    await this.#records.finish(run, work);
    return true;
  }

  async #plan(
    run: Run,
    memoryId: string,
    change: MemoryUpdate,
    base: Base,
    isStaged: boolean,
  ): Promise<Plan | undefined> {
    const [items, records] = [this.#items, this.#records];
    const { insert, rewrite, setState, remove } = foldUpdate(change);
    const { life } = base;
    const count = base.count + 1;
    const token = isStaged ? newToken(count, change) : "";
    const before = records.live(memoryId, base);

    // What the head does not tell of messages: of those that are not live, and the ids of those that go.
    const others = setState.flatMap(({ seq }) => (before.has(seq) ? [] : [seq]));
    const asked = [...remove, ...others, ...(isStaged ? rewrite.map(({ seq }) => seq) : [])];
    const rows = new Map(
      (asked.length === 0 ? [] : await records.rowsAt(run, memoryId, life, asked)).map((row) => [
        row.seq,
        row,
      ]),
    );
    const gone = [...rows.keys()].filter((seq) => !before.has(seq));
    const marks = await records.marks(run, memoryId, life, gone);
    for (const seq of marks.removed) rows.delete(seq);
    const named = new Map(change.replace.map(({ seq, id }) => [seq, id]));
    try {
      checkAgainstStored(memoryId, change, {
        nextSeq: base.nextSeq,
        find(seq) {
          const id = rows.get(seq)?.id ?? (before.has(seq) ? (named.get(seq) ?? "") : undefined);
          return id === undefined ? undefined : { id, state: before.has(seq) ? "live" : "evicted" };
        },
      });
    } catch (error) {
      // What was read may be newer than what the update was computed from.
      const head = await records.head(run, memoryId);
      const version = head !== undefined && isPresent(head) ? head.version : null;
      if (isTurnkeepError(error, "INVALID_OPTION") && version !== change.expected) return undefined;
      throw error;
    }

    const live = new Map<number, Place>(before);
    const puts: { row: Item[]; id: Item; isNew: boolean; messageId: string }[] = [];
    const garbage = new Map<number, Place>();
    let bytes = 0;
    for (const message of [...insert, ...rewrite]) {
      const { seq, id, state } = message;
      const old = before.get(seq);
      const place = isStaged || old === undefined ? { token, edit: 0 } : { token: old.token, edit: count };
      if (isStaged && old !== undefined) garbage.set(seq, old);
      if (state === "live") live.set(seq, place);
      else live.delete(seq);
      bytes += bytesOf(message);
      puts.push({
        row: items.rowItems(memoryId, life, message, place),
        id: items.idKey(memoryId, life, id, seq, place.token),
        isNew: isStaged || old === undefined,
        messageId: id,
      });
    }
    for (const { seq, state } of setState) {
      const place = before.get(seq) ?? rows.get(seq);
      if (state === "live" && place !== undefined) live.set(seq, { token: place.token, edit: place.edit });
      else live.delete(seq);
    }
    const deletes: Item[] = [];
    let removesParts = false;
    for (const seq of remove) {
      live.delete(seq);
      const row = rows.get(seq);
      if (row === undefined) continue;
      garbage.set(seq, row);
      removesParts ||= row.parts > 0;
      deletes.push(
        items.rowKey(memoryId, life, seq, row.token),
        items.idKey(memoryId, life, row.id, seq, row.token),
      );
    }
    const text = encodeLive(live);
    if (text.length > liveBytes) {
      throw invalidOption(
        `The live messages of a memory are too scattered: the list of their seqs has ${text.length} bytes, and ${liveBytes} fit`,
      );
    }

    const add = [...insert, ...rewrite, ...setState].filter(({ state }) => state === "superseded");
    const drop = setState.filter(({ seq, state }) => state !== "superseded" && !before.has(seq));
    const seqsIn = (list: readonly { readonly seq: number }[]): number[] => list.map(({ seq }) => seq);
    const marked = { add: seqsIn(add), drop: seqsIn(drop), removed: isStaged ? remove : [] };
    const common = [
      ...items.markActions(memoryId, life, marked, marks.superseded),
      ...(change.expected === null ? items.entries(memoryId, life, change.owner) : []),
    ];
    const head = items.writeHead(memoryId, change, life, text, count);
    const after = { version: change.version, nextSeq: change.nextSeq, live: text, life, count };
    if (isStaged) {
      const staged = new Map([...insert, ...rewrite].map(({ seq }) => [seq, { token, edit: 0 }]));
      const work: Work = {
        ...{ memory: memoryId, life, token, stage: "staging" },
        ...{ rows: encodeLive(staged), updatedAt: Date.now() },
      };
      const marker = items.put(items.markerKey(memoryId, life, token));
      return {
        actions: [head, marker, items.commitWork(work, encodeLive(garbage)), ...common],
        after,
        isTooMuch: false,
        staged: {
          work,
          rows: puts.flatMap(({ row }) => row),
          ids: puts.map(({ id }) => id),
          garbage: encodeLive(garbage),
        },
      };
    }
    const actions = [
      head,
      ...puts.flatMap(({ row: [row = {}], id, isNew, messageId }) =>
        isNew
          ? [items.put(row), items.put(id)]
          : [items.put(row, "id = :id AND attribute_not_exists(parts)", { ":id": { S: messageId } })],
      ),
      ...deletes.map((key) => items.delete(key)),
      ...common,
    ];
    const isTooMuch =
      actions.length > actionsAtOnce ||
      bytes > bytesAtOnce ||
      removesParts ||
      puts.some(({ row }) => row.length > 1);
    return { actions, after, isTooMuch, staged: undefined };
  }

  /** `stage`: what stands there does not go in one transaction. `again`: what stood in the way is gone. */
  async #commit(
    run: Run,
    memoryId: string,
    change: MemoryUpdate,
    { actions }: Pick<Plan, "actions">,
  ): Promise<"done" | "refused" | "stage" | "again"> {
    const [only, ...more] = actions;
    const { refused } = await run(
      only !== undefined && more.length === 0
        ? this.#items.alone(only)
        : this.#items.transact(actions, randomUUID()),
    );
    if (refused === undefined) return "done";
    const [head, ...others] = refused;
    if (head?.code !== "None") {
      const old = head?.item && headOf(head.item);
      if (change.expected !== null || old === undefined || isPresent(old)) return "refused";
      await this.end(run, memoryId, old, this.expire(memoryId, old.life));
      return "again";
    }
    const wrong = others.filter(({ code }) => code === "ConditionalCheckFailed");
    if (wrong.length === 0) return "refused";
    if (wrong.every(({ item }) => item?.parts !== undefined)) return "stage";
    const found = new Map(
      wrong.flatMap(({ item }) => (item ? [[this.#items.seqOf(item), item] as const] : [])),
    );
    checkAgainstStored(memoryId, change, {
      nextSeq: 0,
      find(seq) {
        const replaced = change.replace.find((message) => message.seq === seq)?.id;
        return { id: text(found.get(seq)?.id) ?? replaced ?? "", state: "live" };
      },
    });
    return "refused";
  }

  /** Writes the messages where nobody looks for them, then lets the head vouch for them. */
  async #stage(
    run: Run,
    memoryId: string,
    change: MemoryUpdate,
    plan: Plan,
    { work, rows, ids, garbage }: Staged,
  ): Promise<"done" | "refused" | "stage" | "again"> {
    const [items, records] = [this.#items, this.#records];
    await run(items.alone(items.put(items.workItem(work))));
    await records.putAll(run, rows);
    // A row leads whoever removes it to its id.
    await records.putAll(run, ids);
    const outcome = await this.#commit(run, memoryId, change, plan);
    if (outcome !== "done") await this.abandon(run, work);
    // The update is in place; what is left to remove does not show, and a sweep finds it.
    else if (garbage !== "|")
      await records.finish(run, { ...work, stage: "settle", rows: garbage }).catch(() => {});
    return outcome;
  }
}

/** In the order of the updates, and its own, since an update may be tried twice. */
function newToken(count: number, { append, replace }: MemoryUpdate): string {
  const isLarge = [...append, ...replace].some((message) => bytesOf(message) > partBytes);
  return `${String(count).padStart(12, "0")}${randomBytes(6).toString("base64url")}${isLarge ? largeSign : ""}`;
}
