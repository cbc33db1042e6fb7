import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { main } from "../src/command/main.ts";

export interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

type OnOutput = (out: string, kill: (signal: NodeJS.Signals) => void) => void;

/** Runs a built kit's command in a folder; `onOutput` sees what it has written so far, and may send it a signal. */
export function runIn(
  kit: string,
  cwd: string,
  args: readonly string[],
  onOutput?: OnOutput,
): Promise<Ended> {
  return ended(process.execPath, [join(kit, "bin.js"), ...args], { cwd }, onOutput);
}

/** Runs a line as a user would who copies it into a shell, where the command is installed. */
export function shellIn(kit: string, cwd: string, line: string): Promise<Ended> {
  const bin = join(cwd, "bin");
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh\nexec "${process.execPath}" "${join(kit, "bin.js")}" "$@"\n`;
  writeFileSync(join(bin, "turnkeep-conformance"), script, { mode: 0o755 });
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  return ended("/bin/sh", ["-c", line], { cwd, env });
}

async function ended(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
  onOutput?: OnOutput,
): Promise<Ended> {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    onOutput?.(out, (signal) => child.kill(signal));
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const [status] = await once(child, "close");
  return { status: status as number | null, out, err };
}

/** Runs the command in this process. */
export async function inProcess(cwd: string, args: readonly string[]): Promise<Ended> {
  const seen = { status: null as number | null, out: "", err: "" };
  seen.status = await main(args, {
    cwd,
    out: (text) => {
      seen.out += text;
    },
    err: (text) => {
      seen.err += text;
    },
  });
  return seen;
}
