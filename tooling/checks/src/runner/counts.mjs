/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 */

/**
 * @typedef {object} VitestReport the parts of Vitest's JSON report that are read here
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {number} numTodoTests
 * @property {readonly { status: string, assertionResults: readonly { status: string }[] }[]} testResults
 */

/** @type {Counts} */
export const none = { passed: 0, failed: 0, skipped: 0 };

/**
 * What a report counts. A file that failed without a failed test of its own (it did not load, say) counts as one
 * failed test: its tests never ran. So does one of which all tests were skipped.
 *
 * @param {VitestReport} report
 * @returns {Counts}
 */
export function countsOf(report) {
  const silent = report.testResults.filter(({ status, assertionResults }) => {
    const has = (/** @type {string} */ end) => assertionResults.some((test) => test.status === end);
    return !has("failed") && (status === "failed" || (assertionResults.length > 0 && !has("passed")));
  });
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + silent.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/**
 * @param {Counts} a
 * @param {Counts} b
 * @returns {Counts}
 */
export function sum(a, b) {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/**
 * The line that closes a run: `tests: 812 passed, 0 failed`, and the skipped ones if there are any.
 *
 * @param {Counts} counts
 */
export function closingLine({ passed, failed, skipped }) {
  return `tests: ${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
