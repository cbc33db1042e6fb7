import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

export interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Waits until the text has been written to standard output, and answers all that was. */
  shown(text: string): Promise<string>;
}

/** Starts a program of Node, by default the running one, which does not outlive the test. */
export function startProgram(
  args: readonly string[],
  env: Record<string, string> = {},
  node: string = process.execPath,
): Started {
  const { NO_COLOR: _no, FORCE_COLOR: _force, ...rest } = process.env;
  const child = spawn(node, args, { env: { ...rest, ...env }, stdio: "pipe" });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const ended = once(child, "close").then(([status]) => ({ status: status as number | null, out, err }));
  return {
    child,
    ended,
    async shown(text) {
      while (!out.includes(text)) {
        const piece = await Promise.race([once(child.stdout, "data"), ended]);
        if (!Array.isArray(piece) && !out.includes(text))
          throw new Error(`it ended without ${text}: ${out}${err}`);
      }
      return out;
    },
  };
}
