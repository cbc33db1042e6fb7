import { describeConformance } from "@turnkeep/conformance/vitest";
import { driverGroups, partOfTheKit } from "@turnkeep/store-tests";
import type pg from "pg";
import oldest from "pg811";
import { afterAll, beforeAll } from "vitest";
import { postgresStore } from "../src/index.ts";
import { newDatabase } from "./server.ts";
import { openPool, rawAccess, serverAccess } from "./support.ts";

let url: string;
let pool: pg.Pool;
let oldestPool: pg.Pool;

beforeAll(async () => {
  url = await newDatabase();
  pool = openPool(url);
  oldestPool = new oldest.Pool({ connectionString: url });
  const store = postgresStore({ url });
  await store.migrate();
  await store.close();
});
afterAll(() => Promise.all([pool.end(), oldestPool.end()]));

describeConformance("Postgres, by a url", {
  create: (options) => postgresStore({ url, ...options }),
  ...rawAccess(() => pool),
  ...serverAccess(
    () => pool,
    () => url,
  ),
});

// The same server: what may differ is how a driver sends and answers.
describeConformance(
  "Postgres, by one pool that all stores share",
  {
    create: (options) => postgresStore({ client: pool, ...options }),
    ...rawAccess(() => pool),
  },
  { groups: partOfTheKit([...driverGroups, "errors", "lifecycle"]) },
);

describeConformance(
  "Postgres, by a pool of the oldest pg",
  {
    create: (options) => postgresStore({ client: oldestPool, ...options }),
    ...rawAccess(() => oldestPool),
  },
  { groups: partOfTheKit([...driverGroups, "errors", "lifecycle"]) },
);
