/** Which messages have which ids: each id has an item of its own that leads to the place of its message. */
import type { Life } from "./items.ts";
import { chunks, inTurn } from "./table.ts";

/** So many of these items are a read unit, which a query costs at least. */
const itemsOfUnit = 32;

/** Ids are looked up from so many places at a time. */
const lanes = 8;

/** The seqs in rows that messages with these ids have or had. */
export async function seqsOf(life: Life, ids: readonly string[]): Promise<number[]> {
  const keys = ids.map((id) => life.idKey(id).sort).sort(byBytes);
  const some = chunks(keys, Math.ceil(keys.length / lanes));
  return (await inTurn(some, (lane) => seqsBehind(life, lane))).flat();
}

/** Reads on where keys are near each other, and skips what is between keys that are not. */
async function seqsBehind(life: Life, keys: readonly string[]): Promise<number[]> {
  const asked = new Set(keys);
  const seqs = new Set<number>();
  let rest = keys;
  while (rest[0] !== undefined) {
    const span = { from: rest[0], to: `${rest.at(-1)}~`, limit: itemsOfUnit, keysOnly: true };
    for await (const { items, last } of life.query(span)) {
      for (const { sort } of items) {
        const { key, seq } = life.idOf(sort);
        if (asked.has(key)) seqs.add(seq);
      }
      const beyondPage = last === undefined ? [] : rest.filter((key) => byBytes(`${key}~`, last) > 0);
      const isFar =
        last !== undefined && beyondPage.length >= rest.length - 1 && byBytes(beyondPage[0] ?? "", last) > 0;
      rest = beyondPage;
      if (isFar || rest.length === 0) break;
    }
  }
  return [...seqs];
}

/** The ids of messages whose records are lost, where the items of ids tell them. */
export async function idsOf(life: Life, seqs: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const ids = new Map<number, string>();
  const twice = new Set<number>();
  for (const { sort } of await life.all(life.idKey().sort, { keysOnly: true })) {
    const { id, seq } = life.idOf(sort);
    if (!seqs.includes(seq)) continue;
    // One of the items was left by an update that was refused: nobody knows which.
    if (ids.has(seq)) twice.add(seq);
    ids.set(seq, id);
  }
  for (const seq of twice) ids.delete(seq);
  return ids;
}

/** As the database sorts keys. */
export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
