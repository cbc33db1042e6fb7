import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { onFreePort, PortTaken } from "./ports.ts";
import { lastLines, launch, serverUser, signalProcess, waitForDeath } from "./process.ts";
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
}

/** A server that runs as a child of this process, on the loopback address. */
export interface LocalServer {
  readonly port: number;
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
  const { name, folder, command, env, stopSignal } = plan;
  const logStart = readLog(folder).length;
  const { identity, exited } = await launch(command, await plan.args(port), {
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
        if (/address already in use/i.test(log)) throw new PortTaken(port);
        throw new Error(`${name} ended while it started: ${lastLines(log) || "it printed nothing"}`);
      }
      if (Date.now() > deadline) {
        throw new Error(
          `${name} did not answer in ${readyWithinMs} ms (${reasonOf(error)}): ${lastLines(log)}`,
        );
      }
    }
    await delay(25);
  }
  return {
    port,
    async stop() {
      signalProcess(identity, stopSignal);
      await waitForDeath(identity, 10_000);
      await folder.remove();
    },
  };
}

function readLog({ log }: ServerFolder): string {
  return existsSync(log) ? readFileSync(log, "utf8") : "";
}
