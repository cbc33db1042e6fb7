import { user } from "@turnkeep/core";
import { mean } from "../measure.ts";
import type { Arena, Contender, Units, Window } from "./contender.ts";

/** Whose units are counted, in the order of the table. */
export const billed = ["append", "read", "unchanged"] as const;

/** Means of twenty, so that what is left to do now and then is in them. */
export type OperationUnits = Readonly<Record<(typeof billed)[number], Units>>;

/** Counts the capacity units of one contender's operations; `writer` is another client of the same data. */
export async function countUnits(
  unitsOf: NonNullable<Arena["unitsOf"]>,
  contender: Contender,
  writer: Contender,
  name: string,
  window: Window,
): Promise<OperationUnits> {
  const own = contender.open(name, window);
  const others = writer.open(name, window);
  const message = user("What does the second seat cost if we travel one day later? ".repeat(4));
  const found: Record<(typeof billed)[number], Units[]> = { append: [], read: [], unchanged: [] };
  await own.read();
  await own.append(message);
  for (let round = 0; round < 20; round++) {
    found.append.push(await unitsOf(() => own.append(message)));
    await others.append(message);
    found.read.push(await unitsOf(() => own.read()));
    found.unchanged.push(await unitsOf(() => (own.readUnchanged ?? own.read)()));
  }
  const meanOf = (all: readonly Units[]): Units => ({
    read: mean(all.map(({ read }) => read)),
    write: mean(all.map(({ write }) => write)),
  });
  return Object.fromEntries(
    billed.map((operation) => [operation, meanOf(found[operation])]),
  ) as OperationUnits;
}
