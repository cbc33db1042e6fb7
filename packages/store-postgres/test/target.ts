import type { ChatMemoryStore } from "@turnkeep/core";
import { postgresStore } from "../src/index.ts";

/** As an application would open it. */
export async function openStore(url: string): Promise<ChatMemoryStore> {
  const store = postgresStore({ url });
  await store.migrate();
  return store;
}
