import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import pg from "pg";
import { afterAll, describe, expect, inject, it } from "vitest";
import { withClient } from "../src/database.ts";
import { createDatabase, ServerUnavailable, startPgBouncer, type TestDatabase } from "../src/index.ts";

const database: TestDatabase = await createDatabase(inject("postgresUrl"));
afterAll(() => database.drop());

/** PgBouncer exists for fewer platforms than Postgres; the report shows what a platform has to leave out. */
const startable: Record<"machine" | "cache", boolean> = {
  machine: [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"].some((folder) =>
    existsSync(join(folder, "pgbouncer")),
  ),
  cache: existsSync("/etc/debian_version") && existsSync("/usr/bin/apt-get"),
};

describe.each(["machine", "cache"] as const)("PgBouncer (%s)", (source) => {
  it.runIf(startable[source])(
    "gives two connections of clients the same connection of the server, one transaction after the other",
    async () => {
      const lines: string[] = [];
      const bouncer = await startPgBouncer(inject("postgresUrl"), {
        sources: [source],
        log: (line) => lines.push(line),
      });
      const clients = [1, 2].map(() => new pg.Client({ connectionString: bouncer.through(database.url) }));
      try {
        const backends: unknown[] = [];
        for (const client of clients) await client.connect();
        for (const client of [...clients, ...clients]) {
          const { rows } = await client.query("select pg_backend_pid() as pid, current_database() as name");
          expect(rows[0].name).toBe(database.name);
          backends.push(rows[0].pid);
        }
        expect(new Set(backends).size).toBe(1);
        expect(lines).toEqual([expect.stringContaining(`PgBouncer ${bouncer.version} at 127.0.0.1:`)]);
      } finally {
        for (const client of clients) await client.end();
        await bouncer.stop();
      }
      // A connection that races the last moments of the process is reset instead of refused: it is gone either way.
      await expect(withClient(bouncer.url, async () => {})).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
    },
  );
});

it("says what was tried where there is none", async () => {
  const failed = startPgBouncer(inject("postgresUrl"), { sources: ["cache"], env: { PATH: "/nowhere" } });
  await expect(failed).rejects.toBeInstanceOf(ServerUnavailable);
  await expect(failed).rejects.toThrow(
    /no PgBouncer could be started; tried:\n {2}- cache: dpkg was not found/,
  );
});

it("does not start before a server that does not answer", async () => {
  await expect(startPgBouncer("postgres://postgres@127.0.0.1:1/postgres")).rejects.toThrow("ECONNREFUSED");
});
