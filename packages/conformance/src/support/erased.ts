import type { ConformanceContext } from "../context.ts";
import { expectThat } from "./expect.ts";

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
