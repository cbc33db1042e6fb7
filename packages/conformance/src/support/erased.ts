import type { ConformanceContext } from "../context.ts";
import { expectThat } from "./expect.ts";
import type { TestMemory } from "./memory.ts";

/**
 * Fails unless the database, where it can be looked into, shows a text in all messages of a memory that hold it. Only then
 * does it show anything that the text is gone later.
 */
export async function expectHeld(
  { rawText }: ConformanceContext,
  { id, model }: TestMemory,
  text: string,
): Promise<void> {
  const raw = await rawText(id);
  if (raw === undefined) return;
  const holding = model.all().filter(({ payload }) => payload.includes(text));
  const what = `rawRead of the harness answers all that the database holds of a memory, as plain text: ${holding.length} payloads`;
  expectThat(what, raw.split(text).length > holding.length, raw);
}

/** Fails if the database, where it can be looked into, still holds a text of a memory. */
export async function expectErased(
  what: string,
  { rawText }: ConformanceContext,
  { id }: { readonly id: string },
  text: string,
): Promise<void> {
  const raw = await rawText(id);
  expectThat(what, !raw?.includes(text), raw);
}
