import { type ConformanceReport, verdictOf } from "./report.ts";

const colours = { good: "#2e7d32", part: "#9a6700", bad: "#c62828" } as const;

/**
 * A badge for a README, as SVG text. Green: `conforms`. Amber: `conforms, tried without …`, where the harness lacks
 * members that cases need, and the number of cases that passed, if not all of the kit's were run. Red: the number that
 * failed.
 *
 * @example
 * ```ts
 * import { type ConformanceHarness, formatBadge, runConformance } from "@turnkeep/conformance";
 *
 * async function badge(harness: ConformanceHarness): Promise<string> {
 *   return formatBadge(await runConformance(harness));
 * }
 * ```
 */
export function formatBadge(report: ConformanceReport): string {
  const verdict = verdictOf(report);
  return badge(verdict.badge, colours[verdict.is]);
}

const label = "turnkeep store";

function badge(text: string, colour: string): string {
  const [left, right] = [width(label), width(text)];
  const all = left + right;
  const word = (middle: number, words: string, room: number) =>
    `<text x="${middle}" y="14" textLength="${room - 12}">${words}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${all}" height="20" role="img" aria-label="${label}: ${text}">
  <title>${label}: ${text}</title>
  <clipPath id="r"><rect width="${all}" height="20" rx="3"/></clipPath>
  <g clip-path="url(#r)">
    <rect width="${left}" height="20" fill="#444"/>
    <rect x="${left}" width="${right}" height="20" fill="${colour}"/>
  </g>
  <g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
    ${word(left / 2, label, left)}
    ${word(left + right / 2, text, right)}
  </g>
</svg>
`;
}

/** Room for a text of this size with its margins; `textLength` fits the letters of any font to it. */
function width(text: string): number {
  return Math.round(text.length * 6.6) + 12;
}
