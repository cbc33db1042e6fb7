import { randomUUID } from "node:crypto";
import { readFileSync, utimesSync } from "node:fs";
import { readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { errorCode, invalidOption, refusedError, show } from "@turnkeep/core/store-kit";
import { storeName } from "../refusals.ts";
import { lifeOf, type ProcessMark, thisProcess } from "./process-mark.ts";

/**
 * The lock's file, within the folder that it is for. What a container or a service may write is often that folder alone,
 * and whoever shares the folder sees the lock.
 */
export const lockName = "turnkeep.lock";

/** A folder that this process alone may open. */
export interface FolderLock {
  /** `STORE_REFUSED` if another process has taken the folder over. */
  check(): void;
  /** Whether it is still this process's. */
  isOwn(): boolean;
  release(): Promise<void>;
}

export interface LockTimes {
  /** How often the holder shows those who cannot look at its process that it lives. */
  readonly beatMs: number;
  /** How long such a one waits for a sign of life. */
  readonly patienceMs: number;
}

const usualTimes: LockTimes = { beatMs: 3_000, patienceMs: 30_000 };

/** What the file holds. */
interface Holder extends ProcessMark {
  /** Unique; no lock is taken for another. */
  readonly token: string;
  /** For people. */
  readonly since: string;
}

/**
 * Takes the lock of a folder. That of a process that has ended is taken over. Where its process cannot be looked at, the
 * file is watched: a holder that lives touches it.
 *
 * Errors: `STORE_REFUSED` while another process, or this one, has it; `INVALID_OPTION` if the folder cannot be written.
 */
export async function lockFolder(folder: string, times: LockTimes = usualTimes): Promise<FolderLock> {
  const path = join(folder, lockName);
  const own: Holder = { token: randomUUID(), since: new Date().toISOString(), ...thisProcess() };
  await take(path, { folder, own, times });
  return heldLock(path, { folder, own, times });
}

interface Taker {
  readonly folder: string;
  readonly own: Holder;
  readonly times: LockTimes;
}

/**
 * Who finds the lock of an ended process may not simply remove it: another taker may have done so already, and it would
 * remove that one's lock. So it first takes a lock on this one lock, named by its token. Who has that, and still finds
 * the same lock, is the only one who may put its own in the place. A taker that dies on the way leaves the second lock,
 * which is taken over in the same way.
 */
async function take(path: string, taker: Taker): Promise<void> {
  for (;;) {
    if (await create(path, taker)) return;
    const holder = await holderIn(path);
    if (holder === undefined) continue;
    if (await isHeld(path, holder, taker.times)) {
      if (await isStill(path, holder)) throw heldError(holder, taker.folder);
      continue;
    }
    const right = `${path}.${holder.token}`;
    await take(right, taker);
    if (await isStill(path, holder)) return rename(right, path);
    await rm(right, { force: true });
  }
}

async function create(path: string, { folder, own }: Taker): Promise<boolean> {
  try {
    await writeFile(path, `${JSON.stringify(own)}\n`, { flag: "wx" });
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST") return false;
    throw invalidOption(
      `folder ${show(folder)} cannot be written (${code}): see to its permissions and its room`,
    );
  }
}

async function isHeld(path: string, holder: Holder, { patienceMs }: LockTimes): Promise<boolean> {
  const life = lifeOf(holder);
  return life === "unseen" ? showsLife(path, patienceMs) : life === "alive";
}

/** Compares no clocks: those of two machines differ. */
async function showsLife(path: string, patienceMs: number): Promise<boolean> {
  const before = await stampOf(path);
  const stepMs = Math.min(1_000, patienceMs / 10);
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += stepMs) {
    await delay(stepMs);
    if ((await stampOf(path)) !== before) return true;
  }
  return false;
}

/** The content is read first: a file system of a network may answer times from memory until a file is opened. */
async function stampOf(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(() => "");
  return `${(await stat(path).catch(() => undefined))?.mtimeMs} ${text}`;
}

async function isStill(path: string, { token }: Holder): Promise<boolean> {
  return (await holderIn(path))?.token === token;
}

/** `undefined` where there is no file. */
async function holderIn(path: string): Promise<Holder | undefined> {
  try {
    return holderOf(await readFile(path, "utf8"));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Whose process cannot be looked at: the machine went down while it was written, or it is being written. */
const unreadable: Holder = { token: "unreadable", since: "?", pid: 0, within: "", host: "?" };

function holderOf(text: string): Holder {
  try {
    const holder = JSON.parse(text) as Holder;
    const { token, pid } = holder;
    // A file's name is made of the one, a process is looked for by the other.
    return /^[\da-f-]{36}$/.test(token) && Number.isSafeInteger(pid) && pid > 0 ? holder : unreadable;
  } catch {
    return unreadable;
  }
}

function heldError(holder: Holder, folder: string): Error {
  const { pid, host, since, within } = holder;
  const here = thisProcess();
  const twice = "two at once would destroy the database";
  if (within === here.within && pid === here.pid) {
    const why = `this process has folder ${show(folder)} open already (${twice}): share one store, which a program that is reloaded keeps on globalThis, or close() the first`;
    return refusedError(storeName, why, undefined);
  }
  const where = within === here.within ? "" : ` of host ${show(host)}, another machine or container`;
  const why = `folder ${show(folder)} is open in process ${pid}${where}, since ${since} (${twice}): end that process first, or use its store. If there is no such process, delete ${show(join(folder, lockName))}`;
  return refusedError(storeName, why, undefined);
}

function heldLock(path: string, { folder, own, times }: Taker): FolderLock {
  let isLost = false;
  let seenAt = Date.now();
  function beat(): void {
    try {
      isLost ||= holderOf(readFileSync(path, "utf8")).token !== own.token;
      if (!isLost) utimesSync(path, new Date(), new Date());
      seenAt = Date.now();
    } catch (error) {
      // What else may go wrong passes, or the database will say it.
      isLost ||= errorCode(error) === "ENOENT";
    }
  }
  const timer = setInterval(beat, times.beatMs).unref();
  return {
    check() {
      // PGlite takes no turn of the event loop: a program that only writes gives no timer its turn. And after a
      // standstill, such as a suspended machine, somebody else may have lost patience.
      if (Date.now() - seenAt >= times.beatMs) beat();
      if (!isLost) return;
      const why = `folder ${show(folder)} is no longer this process's: another one took it over while this one showed no sign of life, or the folder or its lock was removed`;
      throw refusedError(storeName, why, undefined);
    },
    isOwn() {
      beat();
      return !isLost;
    },
    async release() {
      clearInterval(timer);
      beat();
      if (!isLost) await rm(path, { force: true });
    },
  };
}
