import { conversation } from "../corpus.ts";
import type { Arena, Contender, Window } from "./contender.ts";

/** Bytes that a message takes. */
export interface Written {
  /** In the database's log, until that is recycled. */
  readonly log: number;
  /** In tables and indexes, for good. */
  readonly disk: number;
}

/** Counts what one contender's appends to some conversations leave in the database, for each message. */
export async function countWritten(
  written: NonNullable<Arena["written"]>,
  { name, fill, open }: Contender,
  window: Window,
  quick: boolean,
): Promise<Written & { readonly name: string }> {
  const messages = conversation(quick ? 20 : 200);
  const [first, ...rest] = messages;
  if (first === undefined) throw new Error("A conversation begins with a message");
  const names = Array.from({ length: 10 }, (_, index) => `written-${index}`);
  for (const one of names) await fill(one, [first], window);
  const { log, disk } = await written(async () => {
    for (const one of names) {
      const conversation = open(one, window);
      for (const message of rest) await conversation.append(message);
    }
  });
  const count = names.length * rest.length;
  return { name, log: log / count, disk: disk / count };
}
