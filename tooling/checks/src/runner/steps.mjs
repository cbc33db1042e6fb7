/**
 * @typedef {object} StepResult
 * @property {boolean} ok
 * @property {string} output shown only if the step failed
 * @property {string} [note] a few words beside the step's name, such as a count
 */

/**
 * @typedef {object} Step
 * @property {string} name
 * @property {readonly string[]} [needs] names of steps without which this one cannot run
 * @property {() => Promise<StepResult>} run
 */

/**
 * Runs the steps in order, one calm line each, to which a long step adds a word every minute, and answers the names
 * of those that failed. A step that lacks what it needs is not run, which is a failure too.
 *
 * @param {readonly Step[]} steps
 * @param {(text: string) => void} print
 * @returns {Promise<string[]>}
 */
export async function runSteps(steps, print) {
  /** @type {string[]} */
  const failed = [];
  for (const step of steps) {
    const missing = step.needs?.find((name) => failed.includes(name));
    if (missing !== undefined) {
      print(`  ${step.name} … not run, for want of ${missing}\n`);
      failed.push(step.name);
      continue;
    }
    print(`  ${step.name} … `);
    const began = performance.now();
    let minutes = 0;
    const progress = setInterval(() => {
      minutes += 1;
      print(`${minutes} min … `);
    }, 60_000);
    const result = await step
      .run()
      .catch(failureOf)
      .finally(() => clearInterval(progress));
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const note = result.note === undefined ? "" : `${result.note}, `;
    print(`${result.ok ? "ok" : "FAILED"} (${note}${seconds} s)\n`);
    if (result.ok) continue;
    failed.push(step.name);
    print(`\n${result.output.trim()}\n\n`);
  }
  return failed;
}

/**
 * @param {unknown} error
 * @returns {StepResult}
 */
function failureOf(error) {
  return { ok: false, output: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
