import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { UnpackedProgram } from "./debian.ts";
import { run, serverUser } from "./process.ts";
import { reasonOf } from "./sources.ts";

/** Where servers lie that `PATH` often leaves out. */
export const systemFolders: readonly string[] = ["/usr/sbin", "/usr/local/sbin"];

/** What is looked for on the machine. */
export interface WantedProgram {
  readonly program: string;
  /** Folders that are looked into behind those of `PATH`. */
  readonly folders?: readonly string[];
  /** Why one is not taken, by what it says of its version; nothing if it is. May throw why it cannot be used. */
  refuses(said: string, command: string): string | undefined | Promise<string | undefined>;
}

/** The first program of that name that is taken. Throws why the others were not. */
export async function findProgram(
  { program, folders = [], refuses }: WantedProgram,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const onPath = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const rejected: string[] = [];
  for (const folder of new Set([...onPath, ...folders])) {
    const command = join(folder, program);
    if (!(await isExecutable(command))) continue;
    try {
      const why = await refuses(await versionOf({ command, env }), command);
      if (why === undefined) return command;
      rejected.push(`${command} ${why}`);
    } catch (error) {
      rejected.push(`${command} cannot be used (${reasonOf(error)})`);
    }
  }
  const beside = folders.length === 0 ? "" : ` or in ${folders.join(", ")}`;
  const found = rejected.length === 0 ? "" : `: ${rejected.join("; ")}`;
  throw new Error(`no usable ${program} on PATH${beside}${found}`);
}

/** What a program answers to `--version`. */
export async function versionOf({ command, env }: UnpackedProgram): Promise<string> {
  return (await run(command, ["--version"], { env, cwd: "/", user: serverUser() })).trim();
}

function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
