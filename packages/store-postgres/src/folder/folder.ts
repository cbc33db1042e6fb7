import { mkdir, readdir, readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { errorCode, importError, invalidOption, refusedError, show } from "@turnkeep/core/store-kit";
import type { PostgresClient } from "../client.ts";
import { storeName } from "../refusals.ts";
import { type FolderLock, lockFolder, lockName } from "./lock.ts";

/** A folder with an embedded Postgres, open in this process alone. */
export interface OpenFolder {
  /** `STORE_REFUSED` if another process has taken the folder over. */
  client(): PostgresClient;
  close(): Promise<void>;
}

/**
 * Opens the embedded Postgres of a folder, which may be new.
 *
 * Errors: `INVALID_OPTION` if it is no folder for that, or if PGlite is not installed; `STORE_REFUSED` while another
 * process has it, or if PGlite cannot open what it holds.
 */
export async function openFolder(path: string): Promise<OpenFolder> {
  const { PGlite } = await importPglite();
  const folder = await madeFolder(resolve(path));
  const lock = await lockFolder(folder);
  try {
    await checkContent(folder);
    const client = await PGlite.create(folder).catch(async (cause: unknown) => {
      throw await unopenable(folder, PGlite, cause);
    });
    return { client: () => clientUnder(lock, client), close: () => closeUnder(lock, client) };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

type Pglite = Awaited<ReturnType<typeof importPglite>>["PGlite"];

/** Inside a `try`, so that bundlers do without a package that is not installed. */
async function importPglite() {
  try {
    return await import("@electric-sql/pglite");
  } catch (cause) {
    throw importError("@electric-sql/pglite", cause, `${storeName} with a folder`);
  }
}

function clientUnder(lock: FolderLock, client: PostgresClient): PostgresClient {
  lock.check();
  return client;
}

/** What closing writes would destroy the work of whoever has the folder now. */
async function closeUnder(lock: FolderLock, client: InstanceType<Pglite>): Promise<void> {
  try {
    if (lock.isOwn()) await client.close();
  } finally {
    await lock.release();
  }
}

async function madeFolder(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
    return await realpath(folder);
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST" || code === "ENOTDIR") {
      throw invalidOption(`folder ${show(folder)} is, or lies in, a file and no folder: name another`);
    }
    throw invalidOption(
      `folder ${show(folder)} cannot be made (${code}): name another, or see to its permissions`,
    );
  }
}

/** PGlite would lay a database over whatever is there. */
async function checkContent(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => !name.startsWith(lockName));
  if (names.length > 0 && !names.includes("PG_VERSION")) {
    throw invalidOption(
      `folder ${show(folder)} holds other files and no database: name an empty folder, a new one, or one of PGlite's`,
    );
  }
  // PGlite writes -42 there. What a server of Postgres writes is its process.
  const [first = ""] = (await textIn(folder, "postmaster.pid")).split("\n");
  if (/^[1-9]/.test(first)) {
    const why = `folder ${show(folder)} belongs to a Postgres server (process ${first}), not to PGlite: give its url`;
    throw refusedError(storeName, why, undefined);
  }
}

async function unopenable(folder: string, PGlite: Pglite, cause: unknown): Promise<Error> {
  const [found, own] = [(await textIn(folder, "PG_VERSION")).trim(), await majorOf(PGlite)];
  if (own !== undefined && found !== own) {
    const why = `folder ${show(folder)} holds a database of Postgres ${show(found)}, and the installed PGlite is Postgres ${own}: install the version of PGlite that made it`;
    return refusedError(storeName, why, cause);
  }
  const why = `PGlite cannot open the database in folder ${show(folder)}, which is damaged or was never finished: put a backup in its place, or name a new folder`;
  return refusedError(storeName, why, cause);
}

/** Costs seconds, so it is asked only when something is wrong. */
async function majorOf(PGlite: Pglite): Promise<string | undefined> {
  try {
    const client = await PGlite.create("memory://");
    const { rows } = await client.query<{ major: string }>(
      "select (current_setting('server_version_num')::int / 10000)::text as major",
    );
    await client.close();
    return rows[0]?.major;
  } catch {
    return undefined;
  }
}

/** Empty where there is none. */
function textIn(folder: string, name: string): Promise<string> {
  return readFile(join(folder, name), "utf8").catch(() => "");
}
