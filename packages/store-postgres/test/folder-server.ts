import { createChatMemory, isTurnkeepError, user } from "@turnkeep/core";
import { postgresStore } from "../src/index.ts";

/** What a process that has a folder open is told, as JSON in its first argument. */
export interface ServerTask {
  readonly folder: string;
  /** How many messages it adds, one after the other. */
  readonly adds: number;
}

/** Prints `open`, then each message's number once the store has acknowledged it; goes on until it is ended. */
const { folder, adds } = JSON.parse(process.argv[2] ?? "") as ServerTask;
const store = postgresStore({ folder });
try {
  await store.migrate();
  console.log("open");
  const memory = createChatMemory({ id: "m", store });
  for (let number = 1; number <= adds; number++) {
    await memory.add(user(`message ${number}`));
    console.log(String(number));
  }
  setInterval(() => {}, 60_000);
} catch (error) {
  console.log(isTurnkeepError(error) ? `${error.code}: ${error.message}` : String(error));
}
