import { setImmediate as next } from "node:timers/promises";
import { PGlite } from "@electric-sql/pglite";
import { createChatMemory, user } from "@turnkeep/core";
import { type PostgresStore, postgresStore } from "@turnkeep/store-postgres";

/**
 * An application that has a folder open, by PGlite itself or by the store, and adds a message after the other. It prints
 * the number of each once the store has acknowledged it.
 */
const [folder = "", by, checkpoints] = process.argv.slice(2);
const client = by === "client" ? await PGlite.create(folder) : undefined;
const store: PostgresStore = postgresStore(client === undefined ? { folder } : { client });
await store.migrate();
const memory = createChatMemory({ id: "m", store, window: { maxMessages: 20 } });
for (let number = 1; ; number++) {
  await memory.add(user(`message ${number}`));
  process.stdout.write(`${number};\n`);
  // PGlite takes no turn of the event loop, which the output needs.
  await next();
  if (checkpoints === "checkpoints" && number % 10 === 0) await client?.query("checkpoint");
}
