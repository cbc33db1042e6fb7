import { execFile, execFileSync, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly started: string;
}

/** The user that servers run as. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** Postgres refuses to run as root, so root's servers belong to nobody; otherwise they belong to this user. */
export function serverUser(): ServerUser | undefined {
  return process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
}

/** Who has this number now, or `undefined` when no living process has it. */
export function identify(pid: number): ProcessIdentity | undefined {
  try {
    const started = process.platform === "linux" ? startOnLinux(pid) : startElsewhere(pid);
    return started === undefined ? undefined : { pid, started };
  } catch {
    return undefined;
  }
}

function startOnLinux(pid: number): string | undefined {
  return startInStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
}

/** The start time in a line of `/proc/<pid>/stat`, or `undefined` when that process is dead. */
export function startInStat(stat: string): string | undefined {
  // The second field is the program's name in parentheses and may hold blanks and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, threads, started] = [fields[0], Number(fields[17]), fields[19]];
  // The first thread of a process may end before the others, which still hold its files and listening sockets.
  const dead = state === "X" || (state === "Z" && threads <= 1);
  return dead ? undefined : started;
}

function startElsewhere(pid: number): string | undefined {
  const line = execFileSync("ps", ["-o", "state=,lstart=", "-p", String(pid)], { encoding: "utf8" }).trim();
  return line === "" || line.startsWith("Z") ? undefined : line.replace(/^\S+\s+/, "");
}

export function isAlive({ pid, started }: ProcessIdentity): boolean {
  return identify(pid)?.started === started;
}

/** Sends a signal to that very process; nothing happens if it is gone. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Waits until the process is gone, at most `timeoutMs`; whether it is. */
export async function waitForDeath(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (isAlive(identity)) {
    if (Date.now() > deadline) return false;
    await delay(20);
  }
  return true;
}

/** The same as `waitForDeath` where nothing can be awaited: in the handler of the process's own exit. */
export function waitForDeathSync(identity: ProcessIdentity, timeoutMs: number): boolean {
  const deadline = Date.now() + timeoutMs;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (isAlive(identity)) {
    if (Date.now() > deadline) return false;
    Atomics.wait(pause, 0, 0, 20);
  }
  return true;
}

/** How to call a program. */
export interface RunOptions {
  readonly cwd?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly user?: ServerUser | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Runs a program to its end and answers what it printed. Its error says what was run and what it complained of. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { cwd, env = process.env, user, timeoutMs = 120_000 } = options;
  return new Promise((resolve, reject) => {
    execFile(
      command,
      args,
      { env, timeout: timeoutMs, encoding: "utf8", maxBuffer: 1 << 24, ...(cwd && { cwd }), ...user },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        const call = [command, ...args.slice(0, 3)].join(" ");
        if (error.code === "ENOENT") return reject(new Error(`${command} was not found`));
        const why = error.killed ? `took longer than ${timeoutMs} ms` : lastLines(stderr) || error.message;
        reject(new Error(`\`${call}\` failed: ${why}`, { cause: error }));
      },
    );
  });
}

/** The end of a log, short enough for an error message. */
export function lastLines(text: string, count: number = 4): string {
  return text.trim().split("\n").slice(-count).join(" | ");
}

/** A server's process, started and not yet waited for. */
export interface LaunchedProcess {
  readonly identity: ProcessIdentity;
  readonly exited: () => boolean;
  /** How it ended, such as `by SIGSEGV`; `undefined` as long as that is not known. */
  readonly end: () => string | undefined;
}

/** Starts a program that goes on running, with its output in `logFile`. */
export async function launch(
  command: string,
  args: readonly string[],
  options: RunOptions & { readonly logFile: string; readonly onStart: (identity: ProcessIdentity) => void },
): Promise<LaunchedProcess> {
  const { cwd, env = process.env, user, logFile, onStart } = options;
  const log = openSync(logFile, "a");
  try {
    const child = spawn(command, args, { env, stdio: ["ignore", log, log], ...(cwd && { cwd }), ...user });
    let end: string | undefined;
    child.once("exit", (code, signal) => {
      end = signal === null ? `with exit status ${code}` : `by ${signal}`;
    });
    const { pid } = child;
    if (pid === undefined) {
      const error = await new Promise<Error>((resolve) => child.once("error", resolve));
      throw new Error(`${command} could not be started: ${error.message}`, { cause: error });
    }
    child.on("error", () => {});
    // A process that ends at once may be gone already; then it has no start time to remember.
    const identity = identify(pid) ?? { pid, started: "" };
    onStart(identity);
    // A forgotten server must not keep its owner from ending; the owner's exit handler stops it then.
    child.unref();
    return { identity, exited: () => end !== undefined || !isAlive(identity), end: () => end };
  } finally {
    closeSync(log);
  }
}
