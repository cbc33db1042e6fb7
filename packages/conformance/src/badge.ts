import type { ConformanceReport } from "./report.ts";

const colours = { good: "#2e7d32", part: "#9a6700", bad: "#c62828" } as const;

/**
 * A badge for a README, as SVG text: `conforms` in green; the number of failed cases in red; or, if not all of the
 * kit's cases were chosen, the number that passed in amber.
 *
 * @example
 * ```ts
 * import { type ConformanceHarness, cases, formatBadge, runConformance } from "@turnkeep/conformance";
 *
 * async function badge(harness: ConformanceHarness): Promise<string> {
 *   return formatBadge(await runConformance(harness), cases.length);
 * }
 * ```
 */
export function formatBadge(report: ConformanceReport, casesOfTheKit: number): string {
  const { passed, failed } = report.counts;
  const whole = report.results.length >= casesOfTheKit;
  if (!report.ok) return badge(failed > 0 ? `${failed} failed` : "nothing passed", colours.bad);
  return whole
    ? badge("conforms", colours.good)
    : badge(`${passed} of ${casesOfTheKit} cases passed`, colours.part);
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
