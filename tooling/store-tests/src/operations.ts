import { appendFileSync, readFileSync } from "node:fs";
import { type ChatMemory, entry, type ModelMessage, user } from "@turnkeep/core";

/** What one client asked of a memory, when, and what it was told. Messages are known by their ids. */
export interface Operation {
  readonly client: string;
  readonly call:
    | { readonly kind: "add"; readonly ids: readonly string[] }
    | { readonly kind: "remove"; readonly id: string }
    | { readonly kind: "clear" }
    | { readonly kind: "read"; readonly seen: readonly string[] };
  /** Nanoseconds on a clock that all processes of a machine share. */
  readonly invoked: number;
  /** `undefined`: it failed, or its client died, so that it may have happened at any time since, or never. */
  readonly returned: number | undefined;
}

/**
 * What the message of that id says. It stands in the request that writes the message and in no other: a write looks its
 * ids up first.
 */
export function textOf(id: string): string {
  return `${opening}${id}`;
}

const opening = "text of ";

/** A memory whose calls are recorded. Its messages say nothing but their ids. */
export interface RecordedMemory {
  add(...ids: string[]): Promise<void>;
  remove(id: string): Promise<void>;
  clear(): Promise<void>;
  /** The ids of what is live. A read that fails is not recorded: it says nothing. */
  read(): Promise<string[]>;
}

/** The time on the clock that all processes of this machine share. */
export function now(): number {
  return Number(process.hrtime.bigint());
}

/** Records the calls of one client in the order in which they end; `record` is called when an operation begins and when it ends. */
export function recorded(
  client: string,
  memory: ChatMemory<ModelMessage>,
  record: (operation: Operation) => void,
): RecordedMemory {
  async function write(call: Operation["call"], run: () => Promise<unknown>): Promise<void> {
    const invoked = now();
    // Recorded before it is made as well: if the process dies in between, it may have happened.
    record({ client, call, invoked, returned: undefined });
    await run();
    record({ client, call, invoked, returned: now() });
  }
  return {
    add: (...ids) =>
      write({ kind: "add", ids }, () => memory.add(...ids.map((id) => entry(user(textOf(id)), { id })))),
    remove: (id) => write({ kind: "remove", id }, () => memory.remove(id)),
    clear: () => write({ kind: "clear" }, () => memory.clear()),
    async read() {
      const invoked = now();
      const seen = (await memory.messages()).map(({ content }) => String(content).slice(opening.length));
      record({ client, call: { kind: "read", seen }, invoked, returned: now() });
      return seen;
    },
  };
}

/** Takes each operation that was recorded twice, when it began and when it ended, as the one that it is. */
export class OperationLog {
  readonly #operations = new Map<string, Operation>();

  /** To be handed to {@link recorded}. */
  readonly record = (operation: Operation): void => {
    const { client, call, invoked } = operation;
    this.#operations.set(`${client} ${invoked} ${JSON.stringify(call)}`, operation);
  };

  /** Takes over what another process wrote with {@link appendTo}. A last line that is not whole was never written. */
  takeOver(file: string): void {
    const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
    for (const line of lines) this.record(JSON.parse(line) as Operation);
  }

  /** How many messages were acknowledged. */
  get acknowledged(): string[] {
    return this.operations.flatMap(({ call, returned }) =>
      call.kind === "add" && returned !== undefined ? call.ids : [],
    );
  }

  get operations(): Operation[] {
    return [...this.#operations.values()];
  }
}

/** Writes operations to a file at once, so that they outlive the process. */
export function appendTo(file: string): (operation: Operation) => void {
  return (operation) => appendFileSync(file, `${JSON.stringify(operation)}\n`);
}
