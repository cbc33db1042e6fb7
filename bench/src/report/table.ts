export type Cell = string | number | null;

/** Numbers are kept as measured and shown with three digits; `null`: there is none. */
export interface Table {
  readonly title: string;
  /** The units stand in the names. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A table in Markdown, under its title. */
export function markdownOf(table: Table): string {
  return `**${table.title}**\n\n${rowsOf(table)}`;
}

/** The same without its title. */
export function rowsOf({ columns, rows }: Table): string {
  const cells = [columns, ...rows.map((row) => row.map(shown))];
  const widths = columns.map((_, column) => Math.max(3, ...cells.map((row) => (row[column] ?? "").length)));
  const isNumber = columns.map((_, column) => rows.some((row) => typeof row[column] === "number"));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => padded(cell, widths[column] ?? 0, isNumber[column] === true)).join(" | ")} |`;
  const rule = `| ${widths.map((width, column) => (isNumber[column] ? `${"-".repeat(width - 1)}:` : "-".repeat(width))).join(" | ")} |`;
  const [head = [], ...body] = cells;
  return `${[line(head), rule, ...body.map(line)].join("\n")}\n`;
}

/** Three digits, thousands set apart. */
export function shown(cell: Cell): string {
  if (cell === null) return "–";
  if (typeof cell === "string") return cell.replaceAll("|", "\\|");
  if (cell !== 0 && Math.abs(cell) < 1_000) return String(Number(cell.toPrecision(3)));
  return Math.round(cell).toLocaleString("en-US");
}

function padded(cell: string, width: number, right: boolean): string {
  return right ? cell.padStart(width) : cell.padEnd(width);
}
