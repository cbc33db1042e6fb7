import { mkdirSync } from "node:fs";
import { postgresStore } from "@turnkeep/store-postgres";
import { sqliteStore } from "@turnkeep/store-sqlite";

const url = process.env.DATABASE_URL;
if (!url) mkdirSync("data", { recursive: true });

/** How exactly the list of chats knows which one is the newest. */
const activityMs = 1_000;

/** Where the chats are: the Postgres of `DATABASE_URL`, or a file. */
export const store = url
  ? postgresStore({ url, activityMs })
  : sqliteStore({ file: "data/chats.db", activityMs });
await store.migrate();
