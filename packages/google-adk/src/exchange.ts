import type { LlmRequest } from "@google/adk";
import { append } from "@turnkeep/core/format-kit";

type Contents = LlmRequest["contents"];

/**
 * The request's contents with those shown in place of all. What was changed since ADK made them stays changed, and what was
 * added, at one place, stays there. Contents that somebody else has cut are left to them.
 */
export function exchanged(contents: Contents, all: Contents, shown: Contents): Contents {
  const more = contents.length - all.length;
  if (more < 0) return contents;
  const [now, before] = [textsOf(contents), textsOf(all)];
  const end = all.length - sameAtEnd(now, before, sameAtStart(now, before));
  const places = placesOf(textsOf(shown), before);
  const kept = shown.map((content, at) => {
    const place = places[at];
    if (place === undefined) return content;
    return contents[place < end ? place : place + more] as Contents[number];
  });
  const first = end === 0 ? 0 : places.findIndex((place) => place !== undefined && place >= end);
  kept.splice(first < 0 ? kept.length : first, 0, ...contents.slice(end, end + more));
  return kept;
}

function textsOf(contents: Contents): string[] {
  return contents.map((content) => JSON.stringify(content));
}

function sameAtStart(now: readonly string[], before: readonly string[]): number {
  const differs = before.findIndex((text, at) => text !== now[at]);
  return differs < 0 ? before.length : differs;
}

/** How many are the same at the end, without those that are the same at the start. */
function sameAtEnd(now: readonly string[], before: readonly string[], atStart: number): number {
  let same = 0;
  while (same < before.length - atStart && now.at(-1 - same) === before.at(-1 - same)) same++;
  return same;
}

/** Where each of those shown stands among all, the last of equal ones first: a window shows the end. */
function placesOf(shown: readonly string[], all: readonly string[]): (number | undefined)[] {
  const free = new Map<string, number[]>();
  for (const [place, text] of all.entries()) append(free, text, place);
  return shown.map((_, at) => free.get(shown.at(-1 - at) as string)?.pop()).reverse();
}
