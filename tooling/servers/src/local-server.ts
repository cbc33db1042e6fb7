import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { onFreePort, PortTaken } from "./ports.ts";
import {
  lastLines,
  launch,
  type ProcessIdentity,
  serverUser,
  signalProcess,
  waitForDeath,
} from "./process.ts";
import type { ServerFolder } from "./records.ts";
import { reasonOf } from "./sources.ts";

/** How to start a binary as a server. */
export interface LocalServerPlan {
  /** For messages: `"Postgres"`. */
  readonly name: string;
  readonly folder: ServerFolder;
  readonly command: string;
  /** What the command is given for this port; called again with another port when one is taken. */
  args(port: number): readonly string[] | Promise<readonly string[]>;
  readonly env: NodeJS.ProcessEnv;
  /** Resolves when this very server answers on the port, rejects while it does not. */
  ready(port: number): Promise<void>;
  /** Asks the server to end in good order. */
  readonly stopSignal: NodeJS.Signals;
  /** What it prints when it cannot start yet after it was killed, but will soon. */
  readonly startsLater?: RegExp | undefined;
}

/** A server that runs as a child of this process, on the loopback address. */
export interface LocalServer {
  readonly port: number;
  /** Ends the server as a crash would; its data stays. */
  kill(): Promise<void>;
  /** Starts a server that was killed again, on the same port and data. */
  start(): Promise<void>;
  /** Kills the server as a crash would, and starts it again on the same port and data. */
  restart(): Promise<void>;
  /** Ends the server and removes its data. Calling it again does nothing. */
  stop(): Promise<void>;
}

const readyWithinMs = 60_000;

/** Starts the server on a free port and waits until it answers; leaves nothing behind when it does not. */
export async function startLocalServer(plan: LocalServerPlan): Promise<LocalServer> {
  try {
    return await onFreePort((port) => startOnPort(plan, port));
  } catch (error) {
    await plan.folder.remove();
    throw error;
  }
}

async function startOnPort(plan: LocalServerPlan, port: number): Promise<LocalServer> {
  let identity = await launchOnPort(plan, port);
  async function kill(): Promise<void> {
    signalProcess(identity, "SIGKILL");
    if (!(await waitForDeath(identity, 10_000))) throw new Error(`${plan.name} survived SIGKILL for 10 s`);
  }
  async function start(): Promise<void> {
    identity = await relaunch(plan, port);
  }
  return {
    port,
    kill,
    start,
    async restart() {
      await kill();
      await start();
    },
    async stop() {
      signalProcess(identity, plan.stopSignal);
      await waitForDeath(identity, 10_000);
      await plan.folder.remove();
    },
  };
}

/** A server that was killed cannot start again while what belonged to it is still there. */
class NotYet extends Error {}

/** On the same port: who takes it from a server that was killed has it for a moment only. */
async function relaunch(plan: LocalServerPlan, port: number): Promise<ProcessIdentity> {
  const deadline = Date.now() + readyWithinMs;
  for (;;) {
    try {
      return await launchOnPort(plan, port);
    } catch (error) {
      const passes = error instanceof PortTaken || error instanceof NotYet;
      if (!passes || Date.now() > deadline) throw error;
    }
    await delay(25);
  }
}

/** Starts the process and waits until it answers. */
async function launchOnPort(plan: LocalServerPlan, port: number): Promise<ProcessIdentity> {
  const { name, folder, command, env } = plan;
  const logStart = readLog(folder).length;
  const { identity, exited, end } = await launch(command, await plan.args(port), {
    cwd: folder.data,
    env,
    user: serverUser(),
    logFile: folder.log,
    onStart: folder.attach,
  });
  const deadline = Date.now() + readyWithinMs;
  for (;;) {
    try {
      await plan.ready(port);
      break;
    } catch (error) {
      const log = readLog(folder).slice(logStart);
      if (exited()) {
        // How it ended is told a moment after it is gone.
        await delay(25);
        if (/address already in use/i.test(log)) throw new PortTaken(port);
        const what = `${name} ended while it started: ${lastLines(log) || `${command} printed nothing and ended ${end() ?? "at once"}`}`;
        throw plan.startsLater?.test(log) ? new NotYet(what) : new Error(what);
      }
      if (Date.now() > deadline) {
        throw new Error(
          `${name} did not answer in ${readyWithinMs} ms (${reasonOf(error)}): ${lastLines(log)}`,
        );
      }
    }
    await delay(25);
  }
  return identity;
}

function readLog({ log }: ServerFolder): string {
  return existsSync(log) ? readFileSync(log, "utf8") : "";
}
