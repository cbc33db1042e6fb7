import { createChatMemory, user } from "@turnkeep/core";
import pg from "pg";
import { postgresStore } from "../src/index.ts";

/** Adds over a pool or a client of its own, without listeners, whose connection the server ends; then over a pool again. */
const [url = "", kind] = process.argv.slice(2);

const config = { connectionString: url, application_name: "idle" };
const client = kind === "pool" ? new pg.Pool(config) : new pg.Client(config);
const store = postgresStore({ client });
if (client instanceof pg.Client) await client.connect();
await store.migrate();
await createChatMemory({ id: kind ?? "", store }).add(user("Hello"));

const broken = new Promise<void>((resolve) => {
  // Not the event "error", which is what the store listens to.
  if (client instanceof pg.Pool) client.on("remove", () => resolve());
  else client.on("end", () => resolve());
});
const admin = new pg.Client({ connectionString: url });
await admin.connect();
await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'idle'");
await broken;
await admin.end();
await store.close();
console.log("alive");
process.exit();
