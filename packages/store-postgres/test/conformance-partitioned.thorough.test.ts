import { describeConformance } from "@turnkeep/conformance/vitest";
import type pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { postgresStore } from "../src/index.ts";
import { partition } from "./partitions.ts";
import { newDatabase } from "./server.ts";
import { openPool, rawAccess, serverAccess } from "./support.ts";

let url: string;
let pool: pg.Pool;

beforeAll(async () => {
  url = await newDatabase();
  pool = openPool(url);
  await postgresStore({ client: pool }).migrate();
  await partition(pool);
});
afterAll(() => pool.end());

describeConformance("Postgres, its messages in partitions", {
  create: (options) => postgresStore({ url, ...options }),
  ...rawAccess(() => pool),
  ...serverAccess(
    () => pool,
    () => url,
  ),
});
