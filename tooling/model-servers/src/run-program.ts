/** How a program is run within a test's process. */
export interface ProgramRun {
  /** Imports it: it runs as it loads. */
  readonly load: () => Promise<unknown>;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program with those arguments and variables, and answers what it printed. */
export async function runProgram({ load, args = [], env = {} }: ProgramRun): Promise<string> {
  const before = { argv: process.argv, env: process.env, log: console.log, write: process.stdout.write };
  let printed = "";
  process.argv = [process.execPath, "main.ts", ...args];
  process.env = { ...process.env, ...env };
  console.log = (...words) => {
    printed += `${words.join(" ")}\n`;
  };
  process.stdout.write = ((text: string) => {
    printed += text;
    return true;
  }) as typeof process.stdout.write;
  try {
    await load();
    return printed;
  } finally {
    process.argv = before.argv;
    process.env = before.env;
    console.log = before.log;
    process.stdout.write = before.write;
  }
}
