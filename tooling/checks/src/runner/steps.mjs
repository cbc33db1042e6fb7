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
 * @property {string} [alongside] the name of an earlier step with which this one begins, if it lacks nothing by then
 * @property {() => Promise<StepResult>} run
 */

/**
 * Runs the steps in order, one calm line each, to which a long step adds a word every minute, and answers the names
 * of those that failed. A step that lacks what it needs is not run, which is a failure too. One that began early has its
 * line in its place, with all of the time that it took.
 *
 * @param {readonly Step[]} steps
 * @param {(text: string) => void} print
 * @returns {Promise<string[]>}
 */
export async function runSteps(steps, print) {
  /** @type {string[]} */
  const failed = [];
  /** @type {Map<Step, Promise<Ended>>} */
  const begun = new Map();
  /** @param {Step} step */
  const missingFor = (step) => step.needs?.find((name) => failed.includes(name));
  for (const step of steps) {
    for (const other of steps) {
      if (other.alongside === step.name && missingFor(other) === undefined) begun.set(other, timed(other));
    }
    const missing = begun.has(step) ? undefined : missingFor(step);
    if (missing !== undefined) {
      print(`  ${step.name} … not run, for want of ${missing}\n`);
      failed.push(step.name);
      continue;
    }
    print(`  ${step.name} … `);
    let minutes = 0;
    const progress = setInterval(() => {
      minutes += 1;
      print(`${minutes} min … `);
    }, 60_000);
    const { result, seconds } = await (begun.get(step) ?? timed(step));
    clearInterval(progress);
    const note = result.note === undefined ? "" : `${result.note}, `;
    print(`${result.ok ? "ok" : "FAILED"} (${note}${seconds} s)\n`);
    if (result.ok) continue;
    failed.push(step.name);
    print(`\n${result.output.trim()}\n\n`);
  }
  return failed;
}

/**
 * @typedef {object} Ended
 * @property {StepResult} result
 * @property {string} seconds
 */

/**
 * @param {Step} step
 * @returns {Promise<Ended>} never rejected
 */
async function timed(step) {
  const began = performance.now();
  const result = await step.run().catch(failureOf);
  return { result, seconds: ((performance.now() - began) / 1000).toFixed(1) };
}

/**
 * @param {unknown} error
 * @returns {StepResult}
 */
function failureOf(error) {
  return { ok: false, output: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
