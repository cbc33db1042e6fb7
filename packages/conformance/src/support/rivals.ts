import type { MemoryUpdate } from "@turnkeep/core";
import type { ConformanceContext } from "../context.ts";
import { expectEqual, expectSettled } from "./expect.ts";
import type { TestMemory } from "./memory.ts";
import { race } from "./races.ts";

type Clients = Pick<ConformanceContext, "store" | "other">;

/** Fails unless exactly one of two updates of one version wins that two clients send at once. */
export async function expectOneWins(
  what: string,
  clients: Clients,
  memory: TestMemory,
  round: number,
  [one, two]: readonly [MemoryUpdate, MemoryUpdate],
): Promise<void> {
  const results = await send(clients, memory, round, [one, two]);
  const won = results.map((result) => expectSettled(`one of two ${what}`, result, "VERSION_CONFLICT"));
  expectEqual(`how many of two ${what} succeeded`, won.filter(Boolean).length, 1);
  memory.model.apply(won[0] ? one : two);
}

/** Fails unless an update is applied once that two clients send at once. */
export async function expectAppliedOnce(
  what: string,
  clients: Clients,
  memory: TestMemory,
  round: number,
  update: MemoryUpdate,
): Promise<void> {
  const results = await send(clients, memory, round, [update, structuredClone(update)]);
  for (const result of results) expectSettled(`${what} sent twice at once`, result);
  memory.model.apply(update);
}

function send(
  { store, other }: Clients,
  { id }: TestMemory,
  round: number,
  [one, two]: readonly [MemoryUpdate, MemoryUpdate],
): ReturnType<typeof race> {
  return race(
    round,
    () => store.updateMessages(id, one),
    () => other.updateMessages(id, two),
  );
}
