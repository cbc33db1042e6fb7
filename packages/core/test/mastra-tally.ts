import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { type Reason, reasons } from "./mastra-differences.ts";

const document = readFileSync(new URL("../../../docs/coming-from-mastra.md", import.meta.url), "utf8");

/** How many recorded runs are answered alike, and how many differently for which reason; the document says the same. */
class Tally {
  readonly #name: string;
  #alike = 0;
  #different = 0;
  readonly #by = new Map<Reason, number>();

  constructor(name: string) {
    this.#name = name;
  }

  add(faults: ReadonlySet<Reason>): void {
    if (faults.size === 0) this.#alike++;
    else this.#different++;
    for (const fault of faults) this.#by.set(fault, (this.#by.get(fault) ?? 0) + 1);
  }

  /** The row of the document's table. */
  toString(): string {
    const why = (Object.keys(reasons) as Reason[]).flatMap((reason) => {
      const count = this.#by.get(reason);
      return count === undefined ? [] : [`${reason} ${count}`];
    });
    return `| ${this.#name} | ${this.#alike} | ${this.#different} | 0 | ${why.join(", ")} |`;
  }
}

/** The same comparison, made once a case: each has a test of its own, and all of them make a row. */
export function onceEach<T extends { readonly id: string }, R>(
  compare: (recorded: T) => Promise<R>,
): (recorded: T) => Promise<R> {
  const made = new Map<string, Promise<R>>();
  return (recorded) => {
    const result = made.get(recorded.id) ?? compare(recorded);
    made.set(recorded.id, result);
    return result;
  };
}

/** Looks for the row of the document that says how all cases went. */
export async function expectRow<T>(
  name: string,
  cases: readonly T[],
  compare: (recorded: T) => Promise<readonly ReadonlySet<Reason>[]>,
): Promise<void> {
  const tally = new Tally(name);
  for (const recorded of cases) for (const faults of await compare(recorded)) tally.add(faults);
  expect(document.split("\n")).toContain(String(tally));
}
