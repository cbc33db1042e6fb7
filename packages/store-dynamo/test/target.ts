import type { ChatMemoryStore } from "@turnkeep/core";
import { dynamoStore } from "../src/index.ts";

/** As an application would open it. */
export async function openStore(url: string): Promise<ChatMemoryStore> {
  const store = dynamoStore({ url });
  await store.migrate();
  return store;
}
