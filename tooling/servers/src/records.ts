import { randomUUID } from "node:crypto";
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import {
  identify,
  isAlive,
  type ProcessIdentity,
  serverUser,
  signalProcess,
  waitForDeath,
  waitForDeathSync,
} from "./process.ts";

/** What is known of a server that was started here, kept in a file until the server and its data are gone. */
interface ServerRecord {
  readonly name: string;
  /** Process numbers mean nothing on another machine or in another container that shares the folder. */
  readonly host: string;
  readonly owner: ProcessIdentity;
  readonly server?: ProcessIdentity | undefined;
  /** What makes this server end at once. */
  readonly quitSignal: NodeJS.Signals;
}

/** A server's folder: its data and its log, with a record beside it that outlives a crash of the owner. */
export interface ServerFolder {
  readonly path: string;
  /** Holds the server's own files; belongs to the user that the server runs as. */
  readonly data: string;
  readonly log: string;
  /** Notes the process that uses the folder now. */
  attach(server: ProcessIdentity): void;
  /** Stops the process at once if it still runs, and removes folder and record. */
  remove(): Promise<void>;
}

const open = new Map<string, ServerRecord>();
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
let watching = false;

/** Makes a folder for a new server, after whatever dead owners left behind was cleared away. */
export async function createServerFolder(name: string, quitSignal: NodeJS.Signals): Promise<ServerFolder> {
  await reapLeftovers();
  stopAllAtExit();
  const id = `${name}-${randomUUID()}`;
  const owner = identify(process.pid);
  if (owner === undefined) throw new Error(`this process (${process.pid}) could not be identified`);
  const first: ServerRecord = { name, host: thisHost(), owner, quitSignal };
  // The record comes first: a folder without one would be nobody's.
  writeRecord(id, first);
  const path = join(recordsFolder(), id);
  const data = join(path, "data");
  mkdirSync(path, { mode: 0o711 });
  mkdirSync(data, { mode: 0o700 });
  const user = serverUser();
  if (user !== undefined) chownSync(data, user.uid, user.gid);
  return {
    path,
    data,
    log: join(path, "log"),
    attach(server) {
      writeRecord(id, { ...first, server });
    },
    async remove() {
      const record = open.get(id);
      if (record === undefined) return;
      await quit(record);
      forget(id);
    },
  };
}

/** Stops the servers of owners that are no more, and removes their data. Answers how many there were. */
export async function reapLeftovers(): Promise<number> {
  let reaped = 0;
  for (const file of readdirSync(recordsFolder())) {
    if (!file.endsWith(".json")) continue;
    const record = readRecord(file);
    if (record === undefined || record.host !== thisHost() || isAlive(record.owner)) continue;
    await quit(record);
    forget(file.slice(0, -".json".length));
    reaped++;
  }
  return reaped;
}

/** The machine, and where the system has several spaces of process numbers, which of them. */
export function thisHost(): string {
  try {
    return `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

/** Where records and data lie: one folder a user, which no other user may have prepared. */
export function recordsFolder(): string {
  const uid = process.getuid?.() ?? 0;
  // A server that is asked for its folder answers where that really lies.
  const path = join(realpathSync(tmpdir()), `turnkeep-servers-${uid}`);
  mkdirSync(path, { recursive: true, mode: 0o711 });
  const stat = lstatSync(path);
  if (!stat.isDirectory() || (process.getuid !== undefined && stat.uid !== uid)) {
    throw new Error(`${path} belongs to somebody else: remove it, or set TMPDIR to a folder of your own`);
  }
  return path;
}

function writeRecord(id: string, record: ServerRecord): void {
  const file = join(recordsFolder(), `${id}.json`);
  // Renamed into place, so that a reader never meets half a record.
  try {
    writeFileSync(`${file}.new`, JSON.stringify(record));
    renameSync(`${file}.new`, file);
  } catch (error) {
    rmSync(`${file}.new`, { force: true });
    throw error;
  } finally {
    // Also where it could not be written: a server that runs is stopped at exit.
    if (record.server !== undefined || existsSync(file)) open.set(id, record);
  }
}

function readRecord(file: string): ServerRecord | undefined {
  try {
    return JSON.parse(readFileSync(join(recordsFolder(), file), "utf8")) as ServerRecord;
  } catch (error) {
    // Somebody else reaped it in between.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function forget(id: string): void {
  const path = join(recordsFolder(), id);
  // The record goes last: if the data cannot be removed now, the next start tries again.
  rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  rmSync(`${path}.json`, { force: true });
  open.delete(id);
}

async function quit({ name, server, quitSignal }: ServerRecord): Promise<void> {
  if (server === undefined) return;
  signalProcess(server, quitSignal);
  if (await waitForDeath(server, 10_000)) return;
  signalProcess(server, "SIGKILL");
  if (!(await waitForDeath(server, 5_000))) throw new Error(`${name} (process ${server.pid}) does not end`);
}

function stopAllAtExit(): void {
  if (watching) return;
  watching = true;
  process.on("exit", stopAllNow);
  for (const signal of signals) {
    process.on(signal, function stop() {
      stopAllNow();
      // A handler takes the signal's usual effect away; where nobody else decides, the process ends as it would have.
      if (process.listenerCount(signal) === 1 + listenersOfSignalExit()) {
        process.off(signal, stop);
        process.kill(process.pid, signal);
      }
    });
  }
}

/**
 * How many listeners to a signal are those of the library signal-exit, which testcontainers brings. They end the process
 * only where nobody but them listens: who waited for them to decide would wait for ever. Its majors 3 and 4 count
 * themselves so.
 */
function listenersOfSignalExit(): number {
  const { __signal_exit_emitter__: three } = process as { __signal_exit_emitter__?: { count?: number } };
  const four = (globalThis as { [key: symbol]: { count?: number } | undefined })[
    Symbol.for("signal-exit emitter")
  ];
  return (three?.count ?? 0) + (four?.count ?? 0);
}

function stopAllNow(): void {
  for (const { server, quitSignal } of open.values()) {
    if (server !== undefined) signalProcess(server, quitSignal);
  }
  for (const [id, { server }] of [...open]) {
    if (server !== undefined && !waitForDeathSync(server, 3_000)) continue;
    try {
      forget(id);
    } catch {
      // The record stays, and the next start clears it away.
    }
  }
}
