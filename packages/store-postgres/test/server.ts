import { createDatabase, type TestDatabase } from "@turnkeep/servers";
import { afterAll, inject } from "vitest";

const made: TestDatabase[] = [];

/** An empty database of the test file's own, gone when the file is done. */
export async function newDatabase(): Promise<string> {
  const database = await createDatabase(inject("postgresUrl"));
  made.push(database);
  return database.url;
}

afterAll(() => Promise.all(made.map((database) => database.drop())));
