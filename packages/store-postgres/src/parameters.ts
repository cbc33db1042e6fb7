import type { MessageState, StoredMessage } from "@turnkeep/core";
import { invalidOption, runsOf } from "@turnkeep/core/store-kit";
import type { Statement } from "./sql.ts";

/** A message as a statement takes it; for a mere move, only `seq` and `state` are set. */
export type GivenRow = Partial<StoredMessage> & {
  readonly seq: number;
  readonly state: MessageState | "removed";
};

/** The columns of a table of {@link GivenRow}s, and their types. */
const rowColumns = "seq, id, state, created_at, payload, meta";
const rowTypes = ["bigint", "text", "text", "bigint", "text", "text"] as const;
const typedRowColumns = "seq bigint, id text, state text, created_at bigint, payload text, meta text";

/** More rows are sent as one JSON text: a statement takes at most 65,535 parameters. */
const maxRowsAsParameters = 1000;

/** Collects the parameters of one statement and returns how the statement refers to them. */
export class Parameters {
  readonly values: (string | null)[];

  /** @param values The first ones, to which the statement refers by itself. */
  constructor(values: (string | null)[] = []) {
    this.values = values;
  }

  /** The statement with that text. `recurs`: the text is one of a few. */
  statement<Row>(text: string, recurs = false): Statement<Row> {
    return { text, values: this.values, recurs };
  }

  text(value: string | null | undefined): string {
    return this.#add(value, "text");
  }

  integer(value: number | string | undefined): string {
    return this.#add(value?.toString(), "bigint");
  }

  integers(values: readonly number[]): string {
    return this.#add(`{${values.join()}}`, "bigint[]");
  }

  texts(values: readonly string[]): string {
    return this.#add(`{${values.map((value) => `"${value.replace(/["\\]/g, "\\$&")}"`).join()}}`, "text[]");
  }

  /** As a set of ranges. */
  seqs(values: readonly number[]): string {
    return this.#add(rangesOf(values), "int8multirange");
  }

  /** Message rows as a table of that name. */
  rows(table: string, rows: readonly GivenRow[]): string {
    if (rows.length > maxRowsAsParameters) {
      const list = rows.map(({ createdAt, ...row }) => ({ ...row, created_at: createdAt }));
      // Sent as a text: drivers that ask for a parameter's type, such as postgres.js, would encode JSON once more.
      return `json_to_recordset(${this.text(jsonOf(list))}::json) as ${table} (${typedRowColumns})`;
    }
    let place = this.values.length;
    const list = rows.map(() => `(${rowTypes.map((type) => `$${++place}::${type}`).join()})`);
    this.addRows(rows);
    return `(values ${list.join()}) as ${table} (${rowColumns})`;
  }

  /** Adds what {@link Parameters.rows} adds for up to 1,000 rows, to a text that refers to it already. */
  addRows(rows: readonly GivenRow[]): void {
    for (const { seq, id, state, createdAt, payload, meta } of rows) {
      this.values.push(
        `${seq}`,
        id ?? null,
        state,
        createdAt?.toString() ?? null,
        payload ?? null,
        meta ?? null,
      );
    }
  }

  /** Changes of state as a table of that name. Up to 16 of them use one of three texts: for 1, for 4 and for 16. */
  moves(table: string, moves: readonly Pick<GivenRow, "seq" | "state">[]): string {
    const names = `${table} (seq, state)`;
    const size = [1, 4, 16].find((size) => moves.length <= size);
    // A list and not an array: the planner knows its length, so a plan for all parameters is as good.
    if (size !== undefined) {
      const rows = Array.from({ length: size }, (_, index) => moves[index]);
      const list = rows.map((row) => `(${this.integer(row?.seq)}, ${this.text(row?.state)})`);
      return `(select * from (values ${list.join()}) as ${names} where seq is not null) as ${table}`;
    }
    const seqs = this.integers(moves.map(({ seq }) => seq));
    return `unnest(${seqs}, ${this.texts(moves.map(({ state }) => state))}) as ${names}`;
  }

  #add(value: string | null | undefined, type: string): string {
    return `$${this.values.push(value ?? null)}::${type}`;
  }
}

/** Seqs as the text of a set of ranges. */
export function rangesOf(seqs: readonly number[]): string {
  if (seqs.length === 1) return `{[${seqs[0]},${seqs[0]}]}`;
  return `{${runsOf(seqs).map(({ from, to }) => `[${from},${to}]`)}}`;
}

function jsonOf(rows: readonly object[]): string {
  try {
    return JSON.stringify(rows);
  } catch {
    // Without the cause: it says no more than that a text has a greatest length.
    throw invalidOption(
      `An update of ${rows.length} messages must not hold more than one text can, some 500 MB: split it into several`,
    );
  }
}
