import { spawn } from "node:child_process";
import { endWithThis } from "./children.mjs";

/**
 * @typedef {object} Execution
 * @property {boolean} ok
 * @property {string} output what it wrote to stdout and stderr, in order
 * @property {string} end how it ended, such as `exit status 1`
 */

/**
 * Runs a command to its end and keeps what it printed.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<Execution>}
 */
export function execute(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    endWithThis(child);
    let output = "";
    /** @param {string} text */
    const keep = (text) => {
      output += text;
    };
    child.stdout.setEncoding("utf8").on("data", keep);
    child.stderr.setEncoding("utf8").on("data", keep);
    child.once("error", (error) =>
      resolve({ ok: false, output: `${command}: ${error.message}\n`, end: "not started" }),
    );
    child.once("close", (code, signal) => {
      if (signal !== null) keep(`\n${command} was ended by ${signal}.\n`);
      resolve({ ok: code === 0, output, end: signal ?? `exit status ${code}` });
    });
  });
}
