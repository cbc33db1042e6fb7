import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** What tells one process from every other, also from a later one with the same id. */
export interface ProcessMark {
  readonly pid: number;
  /** When it started, as its system says it; `undefined` where that cannot be found out. */
  readonly started?: string | undefined;
  /**
   * Where its id means this process. On Linux the system's start and the namespace of process ids: in a container every
   * program is process 1. Elsewhere the host's name.
   */
  readonly within: string;
  /** For people. */
  readonly host: string;
}

/** `unseen`: it runs, or ran, where this process cannot look: in another container, or on another machine. */
export type ProcessLife = "alive" | "gone" | "unseen";

let own: ProcessMark | undefined;

export function thisProcess(): ProcessMark {
  own ??= { pid: process.pid, started: startOf(process.pid), within: placeOfIds(), host: hostname() };
  return own;
}

export function lifeOf(mark: ProcessMark): ProcessLife {
  if (mark.within !== thisProcess().within) return "unseen";
  if (!exists(mark.pid)) return "gone";
  const started = startOf(mark.pid);
  if (started === undefined || mark.started === undefined) return "alive";
  return started === mark.started ? "alive" : "gone";
}

function placeOfIds(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

/** A process of another user exists, though it takes no signals. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Where there is no `/proc`, `ps` says it, and where there is no `ps`, nobody. */
export function startOf(pid: number, proc = "/proc"): string | undefined {
  try {
    return startIn(readFileSync(`${proc}/${pid}/stat`, "utf8"));
  } catch {
    return startByPs(pid);
  }
}

/** Ticks since the system's start. A process that has ended, but that its parent has not asked for yet, has none. */
function startIn(stat: string): string {
  // Its second field, the program's name in brackets, may hold blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state = ""] = fields;
  return "ZX".includes(state) ? "" : (fields[19] ?? "");
}

function startByPs(pid: number): string | undefined {
  try {
    const env = { ...process.env, LC_ALL: "C", TZ: "UTC" };
    const said = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
      env,
      encoding: "utf8",
      stdio: "pipe",
    });
    return said.trim();
  } catch {
    return undefined;
  }
}
