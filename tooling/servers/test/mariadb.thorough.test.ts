import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { fetchJar } from "../src/cache.ts";
import { type MariaDbServer, startMariaDb } from "../src/index.ts";
import { mariaDbJar } from "../src/versions.ts";
import { describeEveryServer } from "./every-server.ts";
import { neutralEnvironment, testFolder } from "./support.ts";

const silent = (): void => {};

let shared: MariaDbServer;
beforeAll(async () => {
  shared = await startMariaDb();
});
afterAll(() => shared?.stop());

async function ask(url: string, text: string): Promise<RowDataPacket[]> {
  const connection = await createConnection(url);
  try {
    return (await connection.query<RowDataPacket[]>(text))[0];
  } finally {
    connection.destroy();
  }
}

async function expectToWork({ url, version }: MariaDbServer): Promise<void> {
  const name = `servers_${Math.random()}`.replace(".", "");
  await ask(url, `create database ${name}`);
  const [row] = await ask(url, "select version() as version");
  expect(row?.version).toMatch(new RegExp(`^${version}-MariaDB`));
  await ask(url, `drop database ${name}`);
}

describeEveryServer({
  start: startMariaDb,
  startOwn: (options) => startMariaDb({ ...options, sources: ["machine", "cache"] }),
  expectToWork,
  variable: "TURNKEEP_MARIADB_URL",
  running: () => shared.url,
  deaf: "mysql://me:secret@127.0.0.1:1/",
});

describe("sources", () => {
  it("fetches MariaDB into the cache, on loopback only, and keeps through a restart what was committed", async () => {
    const lines: string[] = [];
    const log = (line: string): void => void lines.push(line);
    const server = await startMariaDb({ sources: ["cache"], env: neutralEnvironment(), log });
    onTestFinished(() => server.stop());
    expect(server).toMatchObject({ source: "cache", version: expect.stringMatching(/^\d+\.\d+\.\d+$/) });
    expect(lines).toEqual([
      expect.stringMatching(/^servers: MariaDB \d+\.\d+\.\d+ at 127\.0\.0\.1:\d+ \(cache: /),
    ]);
    expect(await ask(server.url, "select @@bind_address as address")).toMatchObject([
      { address: "127.0.0.1" },
    ]);
    await ask(server.url, "create database kept");
    await ask(server.url, "create table kept.kept (yes int) engine = innodb");
    await ask(server.url, "insert into kept.kept values (42)");
    await server.restart();
    expect(await ask(server.url, "select yes from kept.kept")).toMatchObject([{ yes: 42 }]);
  });

  it("unpacks no jar but the one that is known", async () => {
    const path = testFolder();
    // Puts another file where the jar was asked for.
    writeFileSync(
      join(path, "mvn"),
      `#!/bin/sh\necho other > ${mariaDbJar.name}-${mariaDbJar.version}.jar\n`,
    );
    chmodSync(join(path, "mvn"), 0o755);
    const env = { ...neutralEnvironment({ PATH: path }), TURNKEEP_CACHE: testFolder() };
    await expect(fetchJar(mariaDbJar, env)).rejects.toThrow("it was not unpacked");
    expect(readdirSync(env.TURNKEEP_CACHE)).toEqual([]);
  });

  it("takes no program of the machine that is too old", async () => {
    const path = testFolder();
    writeFileSync(join(path, "mariadbd"), '#!/bin/sh\necho "mariadbd  Ver 10.5.9-MariaDB for Linux"\n');
    chmodSync(join(path, "mariadbd"), 0o755);
    const env = neutralEnvironment({ PATH: `${path}:/bin:/usr/bin` });
    const failed = startMariaDb({ sources: ["machine"], env, log: silent });
    await expect(failed).rejects.toThrow("mariadbd is older than 10.6");
  });

  it("lists everything that was tried and why it failed", async () => {
    const env = { PATH: "/nowhere", TURNKEEP_CACHE: testFolder() };
    const failed = startMariaDb({ sources: ["env", "cache"], env, log: silent });
    await expect(failed).rejects.toThrow(
      [
        "no MariaDB could be started; tried:",
        "  - env: TURNKEEP_MARIADB_URL is not set",
        "  - cache: dpkg was not found; mvn was not found",
        "Start Docker, install MariaDB, or set TURNKEEP_MARIADB_URL to a server whose user may create databases.",
      ].join("\n"),
    );
  });
});
