import type { FoldedUpdate } from "@turnkeep/core/store-kit";

export type MessageRow = FoldedUpdate["insert"][number];

/** A list of seqs, sent as one JSON text. */
export const numbers: string = "json_table(?, '$[*]' columns (seq bigint path '$')) n";
/** The same of ids. */
export const texts: string =
  "json_table(?, '$[*]' columns (id varchar(256) character set utf8mb4 collate utf8mb4_nopad_bin path '$')) n";

/** How many rows one statement inserts: as few statements as these allow, the most at first. */
const batchSizes = [64, 8, 1] as const;

/** In UTF-16 units. A row is sent alone if it exceeds this; a batch stays far below a server's `max_allowed_packet`. */
const maxBatchLength = 1024 * 1024;

/** A row as a statement takes it. */
export function rowValues(
  key: string,
  { seq, id, state, createdAt, payload, meta }: MessageRow,
): (string | null)[] {
  return [key, `${seq}`, id, state === "superseded" ? "1" : "0", `${createdAt}`, payload, meta ?? null];
}

/** The rows in batches of few sizes, each no longer than a packet may be. */
export function batchesOf(rows: readonly MessageRow[]): (readonly MessageRow[])[] {
  const batches: (readonly MessageRow[])[] = [];
  for (let from = 0; from < rows.length; ) {
    const size = batchSizes.find((size) => size === 1 || fits(rows, from, size)) ?? 1;
    batches.push(rows.slice(from, from + size));
    from += size;
  }
  return batches;
}

function fits(rows: readonly MessageRow[], from: number, size: number): boolean {
  if (from + size > rows.length) return false;
  let length = 0;
  for (let index = from; index < from + size; index++) {
    length += (rows[index]?.payload.length ?? 0) + (rows[index]?.meta?.length ?? 0);
    if (length > maxBatchLength) return false;
  }
  return true;
}
