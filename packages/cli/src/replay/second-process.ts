import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Settings } from "./options.ts";
import type { SecondHalf } from "./second-half.ts";

/** Asks the command to be the second process of a replay; for this file's use only. */
export const secondHalfFlag = "second-half";

/** The variable that names the second process's store: its address may hold a password, and all users see command lines. */
export const secondHalfStore = "TURNKEEP_SECOND_HALF_STORE";

/** The second process ended without a result; it has told why. */
export class SecondProcessError extends Error {
  override readonly name: string = "SecondProcessError";
}

/** This package's command, as it lies beside this file once built. */
export function ownProgram(): string {
  return fileURLToPath(new URL("./bin.js", import.meta.url));
}

/** Starts the second process, passes on what it shows, and waits for what it found. */
export function runSecondProcess(
  program: string,
  settings: Settings,
  store: string,
  onStart: (process: number) => void,
): Promise<SecondHalf> {
  const { promise, resolve, reject } = deferred<SecondHalf>();
  const { FORCE_COLOR: _force, NO_COLOR: _no, ...env } = process.env;
  // Without this process's own flags: with `node -e` they hold the program, which would begin anew.
  const child = spawn(process.execPath, [program, ...commandLine(settings)], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    env: {
      ...env,
      ...(settings.colour ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" }),
      [secondHalfStore]: store,
    },
  });
  const stop = (): void => {
    child.kill();
  };
  process.once("exit", stop);
  if (child.pid !== undefined) onStart(child.pid);
  let result: SecondHalf | undefined;
  child.stdout?.setEncoding("utf8").on("data", (text: string) => settings.write(text));
  child.on("message", (message) => {
    result = message as SecondHalf;
  });
  child.on("error", reject);
  child.on("close", (status, signal) => {
    process.removeListener("exit", stop);
    if (result !== undefined && status === 0) resolve(result);
    else
      reject(
        new SecondProcessError(
          `The second process ended with ${signal ?? `status ${status}`} before it had checked the store.`,
        ),
      );
  });
  return promise;
}

function commandLine(settings: Settings): string[] {
  const { files, maxTokens, maxMessages, unit, run, quiet, columns, profile, explain } = settings;
  return [
    "replay",
    `--${secondHalfFlag}`,
    `--columns=${columns}`,
    `--run=${run}`,
    `--unit=${unit}`,
    ...(profile === undefined ? [] : [`--profile=${profile.name}`]),
    ...(explain ? ["--explain"] : []),
    ...(maxTokens === undefined ? [] : [`--max-tokens=${maxTokens}`]),
    ...(maxMessages === undefined ? [] : [`--max-messages=${maxMessages}`]),
    ...(quiet ? ["--quiet"] : []),
    "--",
    ...files,
  ];
}

function deferred<T>(): {
  promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (reason: unknown) => void;
} {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
