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
 * @property {boolean} [beside] runs beside the steps that follow it, and says how it went when one of them ends
 * @property {() => Promise<StepResult>} run
 */

/**
 * Runs the steps in order, one calm line each, to which a long step adds a word every minute, and answers the names
 * of those that failed. A step that lacks what it needs is not run, which is a failure too; none may need a step that
 * runs beside it.
 *
 * @param {readonly Step[]} steps
 * @param {(text: string) => void} print
 * @returns {Promise<string[]>}
 */
export async function runSteps(steps, print) {
  /** @type {string[]} */
  const failed = [];
  /** @type {Set<Promise<void>>} */
  const beside = new Set();
  /** @type {(() => void)[]} */
  const ended = [];
  /** @param {Step} step @param {StepResult} result @param {number} began */
  const tell = (step, result, began) => {
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const note = result.note === undefined ? "" : `${result.note}, `;
    print(`${result.ok ? "ok" : "FAILED"} (${note}${seconds} s)\n`);
    if (result.ok) return;
    failed.push(step.name);
    print(`\n${result.output.trim()}\n\n`);
  };
  for (const step of steps) {
    for (const report of ended.splice(0)) report();
    const missing = step.needs?.find((name) => failed.includes(name));
    if (missing !== undefined) {
      print(`  ${step.name} … not run, for want of ${missing}\n`);
      failed.push(step.name);
      continue;
    }
    const began = performance.now();
    const running = step.run().catch(failureOf);
    if (step.beside === true) {
      print(`  ${step.name} … beside what follows\n`);
      const end = running.then((result) => {
        beside.delete(end);
        ended.push(() => {
          print(`  ${step.name} … `);
          tell(step, result, began);
        });
      });
      beside.add(end);
      continue;
    }
    print(`  ${step.name} … `);
    let minutes = 0;
    const progress = setInterval(() => {
      minutes += 1;
      print(`${minutes} min … `);
    }, 60_000);
    tell(step, await running.finally(() => clearInterval(progress)), began);
  }
  await Promise.all(beside);
  for (const report of ended) report();
  return failed;
}

/**
 * @param {unknown} error
 * @returns {StepResult}
 */
function failureOf(error) {
  return { ok: false, output: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}
