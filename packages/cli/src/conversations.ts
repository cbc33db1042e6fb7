import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The conversations that ship with the package. This file and its build both lie one folder below the package. */
export function shippedConversations(): string[] {
  const folder = new URL("../conversations/", import.meta.url);
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => fileURLToPath(new URL(name, folder)));
}
