import { constants } from "node:fs";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { TurnkeepError } from "@turnkeep/core";
import { errorCode } from "@turnkeep/core/store-kit";

const control = join("global", "pg_control");
const log = "pg_wal";
/** In the control file of every Postgres since 8.3: where the database's state stands, and that of one in use. */
const stateAt = 16;
const inProduction = 6;
/** A program that has the folder open says so in them. */
const notCopied = /^(?:postmaster\.pid$|turnkeep\.lock)/;

const maxAttempts = 20;

/**
 * Copies the folder of a database that another process may be writing to, so that the copy can be opened.
 *
 * Postgres makes a whole database of such files by itself, as it does after a crash: from the last checkpoint, which the
 * control file names, it goes through its log, where each page that was changed since stands whole. So the control file
 * is copied first and the log last, which then reaches beyond everything that was copied before. It works as long as
 * nothing of that log is removed meanwhile; otherwise the copy is made anew.
 *
 * Errors: `STORE_UNAVAILABLE` if that happens every time; `STORE_REFUSED` if there is nothing to copy, or no room.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  try {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      if (await isCopiedWhole(from, to)) return;
    }
  } catch (cause) {
    throw uncopyable(from, to, cause);
  }
  throw new TurnkeepError(
    "STORE_UNAVAILABLE",
    `The database in ${from} changes too fast to be copied. Try again when less is written to it.`,
  );
}

async function isCopiedWhole(from: string, to: string): Promise<boolean> {
  await rm(to, { recursive: true, force: true });
  const before = await controlIn(from);
  const logBefore = await readdir(join(from, log));
  await copyAll(from, to, (name) => name !== log && name !== control && !notCopied.test(name));
  await writeFile(join(to, control), before);
  await copyAll(join(from, log), join(to, log), () => true);
  if (before.equals(await controlIn(from))) return true;
  // Postgres does not look into the log of a database that was shut down: a server that began meanwhile is missed.
  if (before.readUInt32LE(stateAt) !== inProduction) return false;
  const logNow = await readdir(join(from, log));
  return logBefore.every((name) => logNow.includes(name));
}

/** Read until it is the same twice: once may be half old and half new. */
async function controlIn(folder: string): Promise<Buffer> {
  const path = join(folder, control);
  for (let seen = await readFile(path); ; ) {
    const again = await readFile(path);
    if (again.equals(seen)) return again;
    seen = again;
  }
}

/** What vanishes meanwhile was removed by the database, whose log says so. */
async function copyAll(
  from: string,
  to: string,
  isWanted: (name: string) => boolean,
  within = "",
): Promise<void> {
  await mkdir(join(to, within), { recursive: true, mode: 0o700 });
  for (const entry of await readdir(join(from, within), { withFileTypes: true }).catch(unlessGone([]))) {
    const name = join(within, entry.name);
    if (!isWanted(name)) continue;
    if (entry.isDirectory()) await copyAll(from, to, isWanted, name);
    else
      await copyFile(join(from, name), join(to, name), constants.COPYFILE_FICLONE).catch(
        unlessGone(undefined),
      );
  }
}

function unlessGone<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (errorCode(error) !== "ENOENT") throw error;
    return instead;
  };
}

/** Why there is no copy to look into. */
export function uncopyable(from: string, to: string, cause: unknown): TurnkeepError {
  const code = errorCode(cause);
  const why =
    code === "ENOSPC"
      ? `There is no room in ${to} for a copy of ${from}, which is needed to look into it. Set TMPDIR to a folder with room.`
      : `The database in ${from} cannot be copied (${code}), which is needed to look into it. It is unfinished, or its files may not be read.`;
  return new TurnkeepError("STORE_REFUSED", why, { cause });
}
