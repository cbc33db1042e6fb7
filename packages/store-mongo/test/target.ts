import type { ChatMemoryStore } from "@turnkeep/core";
import { mongoStore } from "../src/index.ts";

/** As an application would open it. */
export async function openStore(url: string): Promise<ChatMemoryStore> {
  const store = mongoStore({ url });
  await store.migrate();
  return store;
}
