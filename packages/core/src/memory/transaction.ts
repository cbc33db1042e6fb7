import type { MemoryTransaction, TransactionOptions } from "../chat-memory.ts";
import { TurnkeepError } from "../errors.ts";
import type { MemorySettings } from "../memory-settings.ts";
import { wrongOption } from "../option-checks.ts";
import { takeConflictOptions } from "./call-options.ts";
import type { Prepared } from "./draft.ts";
import { prepareAll, prepareInstruction } from "./prepare.ts";
import type { Base, Session } from "./session.ts";
import type { Views } from "./views.ts";
import type { Writer } from "./writer.ts";

/** The parts of a memory that a transaction works with. */
interface MemoryParts<M> {
  readonly settings: MemorySettings<M>;
  readonly session: Session<M>;
  readonly views: Views<M>;
  readonly writer: Writer<M>;
}

/** Runs the function with a transaction, then adds at once what it collected. */
export async function transact<M, T>(
  { settings, session, views, writer }: MemoryParts<M>,
  run: (transaction: MemoryTransaction<M>) => T | Promise<T>,
  options: TransactionOptions | undefined,
): Promise<T> {
  session.checkOpen();
  if (typeof run !== "function") throw wrongOption("transaction's argument", run, "a function");
  const { mustExist, onConflict, signal } = takeConflictOptions("transaction", options);
  const collected: Prepared<M>[] = [];
  let base: Base | undefined;
  let open = true;
  const checkOpen = (): void => {
    if (!open) throw new TurnkeepError("CLOSED", "The transaction has ended; start another one.");
  };
  if (onConflict === "throw")
    base = await session.run(signal, (call) =>
      session.look(call, ({ loaded: { version } }) => ({ version })),
    );
  const transaction: MemoryTransaction<M> = {
    add: (...messages) => {
      checkOpen();
      const prepared = prepareAll(messages, settings.reader);
      collected.push(...prepared);
      return prepared.map((message) => message.id);
    },
    instruct(message) {
      checkOpen();
      const prepared = prepareInstruction(message, settings.reader);
      collected.push(prepared);
      return prepared.id;
    },
    messages: async (view) => {
      const asked = views.ask(view);
      return session.run(view?.signal ?? signal, (call) => {
        checkOpen();
        return session.look(call, (reading) => {
          base ??= { version: reading.loaded.version };
          return views.show(reading, asked, collected);
        });
      });
    },
  };
  let result: T;
  try {
    result = await run(transaction);
  } finally {
    open = false;
  }
  if (collected.length > 0)
    await writer.add(collected, { signal, mustExist, base: onConflict === "merge" ? undefined : base });
  return result;
}
