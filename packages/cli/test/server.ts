import { createDatabase } from "@turnkeep/servers";
import { inject, onTestFinished } from "vitest";

/** The address of a new database on the package's server, gone when the test ends: it opens sooner than PGlite does. */
export async function emptyDatabase(): Promise<string> {
  const database = await createDatabase(inject("postgresUrl"));
  onTestFinished(() => database.drop());
  return database.url;
}
