import { uuidv7 } from "../message-id.ts";
import { encodeSegment, type RecordRows, type Row, type Segment } from "./key-value-record.ts";

/** How many segments of a level are named side by side before one of the next level names them. */
const fanOut = 32;

/** Messages as they are to be stored, and the texts of the new segments among them, by name. */
export interface Packed extends RecordRows {
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Moves history into segments, the oldest first, until no more than `keep` characters of it are left beside the live
 * messages. A segment holds `size` characters, or one message. Each says that it was written over the version `base`.
 */
export function packed(
  { rows, segments }: RecordRows,
  { base, keep, size }: { readonly base: string; readonly keep: number; readonly size: number },
): Packed {
  const texts = new Map<string, string>();
  let named = [...segments];
  const add = (content: RecordRows, place: Pick<Segment, "first" | "last" | "level">): void => {
    const name = uuidv7().replaceAll("-", "");
    texts.set(name, encodeSegment(base, content));
    named.push({ ...place, name });
  };

  const history = rows.filter(({ state }) => state !== "live");
  const groups = grouped(history, keep, size);
  for (const group of groups) {
    const [first, last] = [group[0] as Row, group.at(-1) as Row];
    add({ rows: group, segments: [] }, { first: first.seq, last: last.seq, level: 0 });
  }
  const moved = new Set(groups.flat());

  for (let level = 0; named.some((segment) => segment.level >= level); level++) {
    const beside = named.filter((segment) => segment.level === level).sort((a, b) => a.first - b.first);
    while (beside.length >= fanOut) {
      const group = beside.splice(0, fanOut);
      named = named.filter((segment) => !group.includes(segment));
      const [first, last] = [(group[0] as Segment).first, Math.max(...group.map((segment) => segment.last))];
      add({ rows: [], segments: group }, { first, last, level: level + 1 });
    }
  }
  return { rows: moved.size === 0 ? rows : rows.filter((row) => !moved.has(row)), segments: named, texts };
}

/** The oldest messages by segments, so many that no more than `keep` characters are left. */
function grouped(history: readonly Row[], keep: number, size: number): Row[][] {
  let left = history.reduce((sum, row) => sum + sizeOf(row), 0);
  const groups: Row[][] = [];
  let taken = Number.POSITIVE_INFINITY;
  for (const row of history) {
    const more = sizeOf(row);
    const isFull = taken + more > size;
    if (isFull && left <= keep) break;
    if (isFull) groups.push([]);
    groups.at(-1)?.push(row);
    taken = isFull ? more : taken + more;
    left -= more;
  }
  return groups;
}

/** In characters, with what stands around the texts. */
function sizeOf({ id, payload, meta = "" }: Row): number {
  return id.length + payload.length + meta.length + 60;
}
