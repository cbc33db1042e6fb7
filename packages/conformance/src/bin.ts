#!/usr/bin/env node
import { main } from "./command/main.ts";

// Whoever reads the output may stop early, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 2);
});

// The first one lets the running case end and the harness clear up; the second one ends the process.
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => interrupted.abort());
}

const status = await main(process.argv.slice(2), {
  cwd: process.cwd(),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  signal: interrupted.signal,
});

// A harness may leave a pool open, which would keep the process alive for ever.
process.stdout.write("", () => {
  process.stderr.write("", () => process.exit(interrupted.signal.aborted ? 130 : status));
});
