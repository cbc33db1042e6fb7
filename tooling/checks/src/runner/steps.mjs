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
 * @property {true | undefined} [shared] it needs none of the others that are marked so, and runs beside them
 * @property {() => Promise<StepResult>} run
 */

/** A test waits for disks, elections and starts of servers some third of the time: four packages keep two cores busy. */
const atOnce = 4;

/**
 * Runs the steps, prints a calm line for each in their order, to which a long step adds a word every minute, and answers
 * the names of those that failed. A step runs alone, or beside those next to it if all of them are `shared`. One that
 * lacks what it needs is not run, which is a failure too.
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
  let running = 0;
  /** @param {Step} step */
  const missingFor = (step) => step.needs?.find((name) => failed.includes(name));
  /**
   * Begins as many of these as there is room for, and more whenever one ends.
   *
   * @param {readonly Step[]} next
   */
  const begin = (next) => {
    for (const step of next) {
      if (running === (step.shared ? atOnce : 1) || missingFor(step) !== undefined) return;
      if (begun.has(step)) continue;
      running += 1;
      const ended = timed(step).finally(() => {
        running -= 1;
        begin(next);
      });
      begun.set(step, ended);
    }
  };
  for (const [index, step] of steps.entries()) {
    const next = steps.slice(index);
    const alone = next.findIndex((other) => !other.shared);
    begin(step.shared ? next.slice(0, alone < 0 ? next.length : alone) : [step]);
    const ended = begun.get(step);
    if (ended === undefined) {
      print(`  ${step.name} … not run, for want of ${missingFor(step)}\n`);
      failed.push(step.name);
      continue;
    }
    print(`  ${step.name} … `);
    let minutes = 0;
    const progress = setInterval(() => {
      minutes += 1;
      print(`${minutes} min … `);
    }, 60_000);
    const { result, seconds } = await ended;
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
