import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as next } from "node:timers/promises";
import { isTurnkeepError } from "@turnkeep/core";
import { lockFolder } from "../src/folder/lock.ts";
import { startOf } from "../src/folder/process-mark.ts";

/**
 * Takes a folder's lock again and again, and says `held` each time; now and then it kills itself while it has it. Says
 * `two` if another process that runs has it too.
 */
const [folder = ""] = process.argv.slice(2);
const sign = join(folder, "held");

for (let round = 0; round < 20; round++) {
  try {
    const lock = await lockFolder(folder);
    const other = pidIn(sign);
    if (other !== undefined && isRunning(other)) process.stdout.write(`two: ${other} and ${process.pid}\n`);
    writeFileSync(sign, String(process.pid));
    process.stdout.write("held\n");
    for (let turn = 0; turn < 20; turn++) await next();
    if (pidIn(sign) !== process.pid) process.stdout.write("two: not mine any more\n");
    if (Math.random() < 0.3) process.kill(process.pid, "SIGKILL");
    rmSync(sign);
    await lock.release();
  } catch (error) {
    if (!isTurnkeepError(error, "STORE_REFUSED")) throw error;
    await next();
  }
}

function pidIn(path: string): number | undefined {
  try {
    return Number(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** One that was killed, and that its parent has not asked for, does not run. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return startOf(pid) !== "";
  } catch {
    return false;
  }
}
