import type { LlmRequest } from "@google/adk";
import { append } from "@turnkeep/core/format-kit";

type Contents = LlmRequest["contents"];
type Content = Contents[number];

/**
 * The request's contents with those shown in place of all. What was changed since ADK made them stays changed, and what was
 * added stays before what it was put before. Contents that somebody else has cut are left to them.
 */
export function exchanged(contents: Contents, all: Contents, shown: Contents): Contents {
  if (contents.length < all.length) return contents;
  const before = textsOf(all);
  const places = placesNow(textsOf(contents), before);
  const ofAll = new Set(places);
  const added = [...contents.keys()].filter((place) => !ofAll.has(place));
  let next = 0;
  const addedBefore = (end: number): Contents => {
    const first = next;
    while ((added[next] ?? end) < end) next++;
    return added.slice(first, next).map((place) => contents[place] as Content);
  };
  // What was put before all is not behind a summary of what has left the window.
  const kept = addedBefore(places[0] ?? 0);
  for (const [at, place] of placesOf(textsOf(shown), before).entries()) {
    if (place === undefined) kept.push(shown[at] as Content);
    else kept.push(...addedBefore(places[place] as number), contents[places[place] as number] as Content);
  }
  return [...kept, ...addedBefore(contents.length)];
}

function textsOf(contents: Contents): string[] {
  return contents.map((content) => JSON.stringify(content));
}

/**
 * Where each of all stands now: as many places behind its own as contents were added before it. Of the ways to place them,
 * that which leaves most of them as they were; what then differs was changed.
 */
function placesNow(now: readonly string[], all: readonly string[]): number[] {
  const most = now.length - all.length;
  const hasStayed: boolean[][] = [];
  /** By how many were added before it, how many from this one on are as they were. */
  let same: number[] = new Array(most + 1).fill(0);
  for (const [at, text] of [...all.entries()].reverse()) {
    const stayed: boolean[] = [];
    const next = same;
    same = [];
    for (let added = most; added >= 0; added--) {
      const here = (next[added] as number) + (now[at + added] === text ? 1 : 0);
      const later = same[added + 1] ?? 0;
      stayed[added] = here >= later;
      same[added] = Math.max(here, later);
    }
    hasStayed[at] = stayed;
  }
  let added = 0;
  return hasStayed.map((stayed, at) => {
    while (stayed[added] !== true) added++;
    return at + added;
  });
}

/** Where each of those shown stands among all, the last of equal ones first: a window shows the end. */
function placesOf(shown: readonly string[], all: readonly string[]): (number | undefined)[] {
  const free = new Map<string, number[]>();
  for (const [place, text] of all.entries()) append(free, text, place);
  return shown.map((_, at) => free.get(shown.at(-1 - at) as string)?.pop()).reverse();
}
