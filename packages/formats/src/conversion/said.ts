import type { NeutralMessage, SourcedPart } from "./neutral.ts";

/** Of a message that holds results and what the user says: the results, and that behind them. */
export function answersAndSaid(parts: readonly SourcedPart[]): NeutralMessage[] {
  const results = parts.filter(({ part }) => part.type === "result");
  const said = parts.filter(({ part }) => part.type !== "result");
  const answers: NeutralMessage[] = results.length > 0 ? [{ role: "tool", parts: results }] : [];
  return said.length > 0 || results.length === 0 ? [...answers, { role: "user", parts: said }] : answers;
}
