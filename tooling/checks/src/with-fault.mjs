import { readFileSync, writeFileSync } from "node:fs";

const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

/**
 * Changes a source file, runs something to its end, and puts the file back as it was. If this process is stopped meanwhile, it
 * does the same, and ends with 130.
 *
 * @template T
 * @param {string} path
 * @param {(source: string) => string} change
 * @param {() => T | Promise<T>} run
 * @returns {Promise<T>}
 */
export async function withFault(path, change, run) {
  let isStopped = false;
  // Without a listener a signal would end this process at once, and leave the fault in the file.
  const stop = () => {
    isStopped = true;
  };
  for (const signal of signals) process.on(signal, stop);
  const source = readFileSync(path, "utf8");
  const faulty = change(source);
  try {
    writeFileSync(path, faulty);
    return await run();
  } finally {
    if (readFileSync(path, "utf8") === faulty) writeFileSync(path, source);
    else console.error(`${path} was changed meanwhile, and may hold the fault: see to it.`);
    for (const signal of signals) process.removeListener(signal, stop);
    if (isStopped) process.exit(130);
  }
}
