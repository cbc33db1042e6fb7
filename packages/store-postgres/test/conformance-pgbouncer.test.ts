import { cases } from "@turnkeep/conformance";
import { describeConformance } from "@turnkeep/conformance/vitest";
import { type PgBouncer, startPgBouncer } from "@turnkeep/servers";
import { appendUntilDone, partOfTheKit, serverGroups, withoutTheLongest } from "@turnkeep/store-tests";
import type pg from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { postgresStore } from "../src/index.ts";
import { identifiersOf, migrationsOf } from "../src/migrations.ts";
import { newDatabase } from "./server.ts";
import { openPool, rawAccess } from "./support.ts";

let bouncer: PgBouncer;
let direct: pg.Pool;
let url: string;

beforeAll(async () => {
  bouncer = await startPgBouncer(inject("postgresUrl"));
  const database = await newDatabase();
  url = bouncer.through(database);
  direct = openPool(database);
});
afterAll(async () => {
  await direct.end();
  await bouncer.stop();
});

test("migrates once for many at once", async () => {
  const stores = Array.from({ length: 12 }, () => postgresStore({ url }));
  await Promise.all(stores.map((store) => store.migrate()));
  await Promise.all(stores.map((store) => store.close()));
  const applied = await direct.query("select number from turnkeep_migrations order by number");
  const steps = migrationsOf(identifiersOf("public", "turnkeep_"));
  expect(applied.rows.map(({ number }) => Number(number))).toEqual(steps.map((_, index) => index + 1));
});

// The server is the one that the whole kit ran on: what may differ is what a session keeps between statements, and how
// calls begin and end.
describeConformance(
  "Postgres behind PgBouncer in transaction mode",
  { create: (options) => postgresStore({ url, ...options }), ...rawAccess(() => direct) },
  {
    cases: withoutTheLongest(cases),
    groups: partOfTheKit([...serverGroups, "payloads", "isolation"]),
  },
);

test("more clients than PgBouncer has connections append to one memory, and all land", async () => {
  const stores = Array.from({ length: 4 }, () =>
    postgresStore({ config: { connectionString: url, max: 8 } }),
  );
  const ids = Array.from({ length: 100 }, (_, index) => `message ${index}`);
  await Promise.all(
    ids.map((id, index) => {
      const store = stores[index % stores.length];
      if (store === undefined) throw new RangeError("There is a store for every index");
      return appendUntilDone(store, "crowded", id);
    }),
  );
  const { messages } = (await stores[0]?.getMessages("crowded")) ?? { messages: [] };
  expect(messages.map(({ id }) => id).sort()).toEqual(ids.sort());
  await Promise.all(stores.map((store) => store.close()));
}, 120_000);
