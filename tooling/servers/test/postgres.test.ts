import { expect, inject, it } from "vitest";
import { withClient } from "../src/database.ts";
import { createDatabase } from "../src/index.ts";

it("hands the server of the whole run to a test file", async () => {
  const database = await createDatabase(inject("postgresUrl"));
  await withClient(database.url, async (client) => {
    const { rows } = await client.query(
      "select current_database() as name, current_setting('fsync') as fsync",
    );
    expect(rows).toEqual([{ name: database.name, fsync: "on" }]);
  });
  await database.drop();
});
