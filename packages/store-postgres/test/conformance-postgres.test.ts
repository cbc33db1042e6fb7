import { describeConformance } from "@turnkeep/conformance/vitest";
import type pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { postgresStore } from "../src/index.ts";
import { newDatabase } from "./server.ts";
import { openPool, rawRead } from "./support.ts";

let url: string;
let pool: pg.Pool;

beforeAll(async () => {
  url = await newDatabase();
  pool = openPool(url);
  const store = postgresStore({ url });
  await store.migrate();
  await store.close();
});
afterAll(() => pool.end());

describeConformance("Postgres, by a url", {
  create: ({ ttlMs }) => postgresStore({ url, ttlMs }),
  rawRead: (memoryId) => rawRead(pool, memoryId),
});

describeConformance("Postgres, by one pool that all stores share", {
  create: ({ ttlMs }) => postgresStore({ client: pool, ttlMs }),
  rawRead: (memoryId) => rawRead(pool, memoryId),
});
