import { DatabaseSync } from "@photostructure/sqlite";
import { describeConformance } from "@turnkeep/conformance/vitest";
import { afterAll } from "vitest";
import { sqliteStore } from "../src/index.ts";
import harness from "./harness.ts";

describeConformance("SQLite in a file", harness);

const inMemory = new DatabaseSync(":memory:");
afterAll(() => inMemory.close());

describeConformance("SQLite in memory, one connection that all stores share", {
  async create(options) {
    const store = sqliteStore({ client: inMemory, ...options });
    await store.migrate();
    return store;
  },
});
