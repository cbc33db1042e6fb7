import type { ChatMemoryStore } from "@turnkeep/core";
import { redisStore } from "../src/index.ts";

/** As an application would open it. */
export async function openStore(url: string): Promise<ChatMemoryStore> {
  return redisStore({ url });
}
