import { type AskedCall, CallsById } from "@turnkeep/core/processors";
import type { Losses } from "./losses.ts";
import type { NeutralMessage, NeutralResult, SourcedPart } from "./neutral.ts";

/**
 * What every target may rely on: a result has a name where a call before it told one, none answers a call that got
 * lost, those in a row share a message, an empty text stands alone, and every message has a part.
 */
export function settled(messages: readonly NeutralMessage[], losses: Losses): NeutralMessage[] {
  /** The names of the calls; that of a lost one is empty. */
  const calls = new CallsById<string>();
  const lostCalls = losses.calls();
  const lostIds = new Set(lostCalls.map(({ id }) => id));
  let nextLost = 0;
  const written: { role: NeutralMessage["role"]; parts: SourcedPart[] }[] = [];
  for (const { role, parts } of messages) {
    const made = parts.flatMap(({ part }): AskedCall<string>[] =>
      part.type === "call" ? [[part.id, part.name]] : [],
    );
    const end = parts.at(-1)?.index ?? -1;
    for (let lost = lostCalls[nextLost]; lost !== undefined && lost.index <= end; ) {
      made.push([lost.id, ""]);
      lost = lostCalls[++nextLost];
    }
    calls.askTogether(made);
    const kept = parts.flatMap((sourced): SourcedPart[] => {
      const { part, index, kind } = sourced;
      if (part.type === "call") {
        if (part.id !== "" && part.name !== "") return [sourced];
        // No API takes a call that lacks either.
        losses.call(index, kind, part.id);
        return [];
      }
      const call = part.type === "result" ? calls.answer(part.id) : undefined;
      const isLost = call === undefined ? part.type === "result" && lostIds.has(part.id) : call === "";
      const isKnown = part.type !== "result" || (part.id !== "" && !isLost);
      const isNamed = (part.type !== "request" && part.type !== "response") || part.approvalId !== "";
      if (isKnown && isNamed)
        return [part.type === "result" ? { ...sourced, part: withName(part, call) } : sourced];
      losses.part(sourced);
      return [];
    });
    const shown = withoutEmptyTexts(kept, losses);
    const last = written.at(-1);
    if (role === "tool" && last?.role === "tool") for (const part of shown) last.parts.push(part);
    else if (shown.length > 0) written.push({ role, parts: [...shown] });
  }
  return written;
}

function withName(result: NeutralResult, callName: string | undefined): NeutralResult {
  const name = result.name ?? callName;
  return name === undefined ? result : { ...result, name };
}

/** Beside a call, some providers give an empty text, which others refuse. */
function withoutEmptyTexts(parts: readonly SourcedPart[], losses: Losses): readonly SourcedPart[] {
  const isEmpty = ({ part }: SourcedPart): boolean => part.type === "text" && part.text === "";
  const full = parts.filter((sourced) => !isEmpty(sourced));
  const kept = full.length > 0 ? full : parts.slice(0, 1);
  const isKept = new Set(kept);
  for (const sourced of parts) if (!isKept.has(sourced)) losses.options(sourced);
  return kept;
}
