#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { main } from "./main.ts";

// Whoever reads the output may stop early, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  // An ordinary exit, so that a temporary folder is removed.
  process.once(signal, () => process.exit(130));
}
// A second process does not outlive the first.
const orphaned = (): never => process.exit(1);
process.once("disconnect", orphaned);

process.exitCode = await main(process.argv.slice(2), {
  env: process.env,
  isTerminal: process.stdout.isTTY === true,
  columns: process.stdout.columns,
  program: fileURLToPath(import.meta.url),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  send: process.send === undefined ? undefined : sendToParent,
});
// One that has failed has sent nothing; the open channel would keep it alive, and the first process waiting.
if (process.connected) {
  process.removeListener("disconnect", orphaned);
  process.disconnect();
}

function sendToParent(message: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(message, undefined, undefined, (error) => {
      process.removeListener("disconnect", orphaned);
      if (error === null) resolve();
      else reject(error);
      process.disconnect?.();
    });
  });
}
