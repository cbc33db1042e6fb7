import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import type { ServerTask } from "./folder-server.ts";

/** A process that has a folder open, or tried to. */
export interface FolderServer {
  readonly pid: number;
  /** Resolves with that line once it was printed; rejects with what was printed if the process ends before. */
  printed(line: RegExp): Promise<string>;
  /** With SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

export function startServer(program: string, task: ServerTask): FolderServer {
  const child: ChildProcess = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  output.on("line", (line) => lines.push(line));
  return {
    pid: child.pid ?? 0,
    async printed(wanted) {
      for (;;) {
        const found = lines.find((line) => wanted.test(line));
        if (found !== undefined) return found;
        const goesOn = await Promise.race([once(output, "line").then(() => true), ended.then(() => false)]);
        if (!goesOn && !lines.some((line) => wanted.test(line))) throw new Error(lines.join("\n"));
      }
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
