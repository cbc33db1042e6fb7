/** What another driver of the same database may do differently: how it sends and answers. */
export const driverGroups = ["basic", "replay", "payloads"] as const;

/** What another server of the kind may do differently: how it runs what it is sent. */
export const serverGroups = ["basic", "atomicity", "versions", "replay", "history", "model"] as const;

/**
 * The kit's cases of 12,000 messages, of 1,100 memories, of 100 MB and of a page of 20 MB: once for a database, and not where a
 * server takes long for them.
 */
const longest =
  /twelve thousand messages|behind a thousand memories|a hundred messages of 1 MB live|twenty messages of 1 MB/;

/** The kit's cases but the longest; all of them in the thorough run. */
export function withoutTheLongest<Case extends { readonly name: string }>(
  cases: readonly Case[],
): readonly Case[] {
  return process.env.TURNKEEP_THOROUGH ? cases : cases.filter(({ name }) => !longest.test(name));
}

/**
 * The groups of the conformance kit that run where all of them run on a sibling: those that may differ. The thorough run
 * has them all: see CONTRIBUTING.md.
 */
export function partOfTheKit<const Group extends string>(
  groups: readonly Group[],
): readonly Group[] | undefined {
  return process.env.TURNKEEP_THOROUGH ? undefined : groups;
}
