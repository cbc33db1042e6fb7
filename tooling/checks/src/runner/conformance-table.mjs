/**
 * @typedef {object} ConformanceRow how a store did on one kind of server
 * @property {string} store
 * @property {string} server
 * @property {number} passed
 * @property {number} skipped
 * @property {number} failed
 */

/** The kit's groups, which are suites within the suite that is named after the server. */
export const conformanceGroups = [
  ...["basic", "order", "atomicity", "versions", "replay", "states", "history", "list"],
  ...["ids", "payloads", "sizes", "ttl", "isolation", "errors", "lifecycle", "model"],
];

/**
 * The runs of the conformance kit in a report of Vitest.
 *
 * @param {string} store
 * @param {{ testResults: readonly { assertionResults: readonly { ancestorTitles: readonly string[], status: string }[] }[] }} report
 * @returns {ConformanceRow[]}
 */
export function conformanceRows(store, report) {
  /** @type {Map<string, ConformanceRow>} */
  const rows = new Map();
  for (const { assertionResults } of report.testResults) {
    for (const { ancestorTitles, status } of assertionResults) {
      const [server, group] = ancestorTitles.slice(-2);
      if (server === undefined || group === undefined || !conformanceGroups.includes(group)) continue;
      const row = rows.get(server) ?? { store, server, passed: 0, skipped: 0, failed: 0 };
      rows.set(server, row);
      if (status === "passed" || status === "failed") row[status] += 1;
      else row.skipped += 1;
    }
  }
  return [...rows.values()];
}

/**
 * The table that `npm test` prints at its end.
 *
 * @param {readonly ConformanceRow[]} rows
 */
export function conformanceTable(rows) {
  const header = ["store", "server", "passed", "skipped by declaration", "failed"];
  const lines = rows.map(({ store, server, passed, skipped, failed }) =>
    [store, server, passed, skipped, failed].map(String),
  );
  const widths = header.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => line[column]?.length ?? 0)),
  );
  /** @param {readonly string[]} line */
  const format = (line) =>
    line
      .map((cell, column) =>
        column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ");
  return [header, ...lines].map((line) => `  ${format(line)}\n`).join("");
}
