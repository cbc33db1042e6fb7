/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();

for (const signal of /** @type {const} */ (["SIGTERM", "SIGHUP"])) {
  process.once(signal, () => {
    for (const child of running) child.kill(signal);
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  });
}

/**
 * Has a process end by what ends this one. Ctrl-C reaches both by itself.
 *
 * @param {import("node:child_process").ChildProcess} child
 */
export function endWithThis(child) {
  running.add(child);
  child.once("close", () => running.delete(child));
}
