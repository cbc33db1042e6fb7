/** What another driver of the same database may do differently: how it sends and answers. */
export const driverGroups = ["basic", "versions", "replay", "payloads"] as const;

/** What another server of the kind may do differently: how it runs what it is sent. */
export const serverGroups = [
  "basic",
  "order",
  "atomicity",
  "versions",
  "replay",
  "states",
  "history",
  "errors",
  "lifecycle",
  "model",
] as const;

/**
 * The groups of the conformance kit that run where all of them run on a sibling: those that may differ. The thorough run
 * has them all: see CONTRIBUTING.md.
 */
export function partOfTheKit<const Group extends string>(
  groups: readonly Group[],
): readonly Group[] | undefined {
  return process.env.TURNKEEP_THOROUGH ? undefined : groups;
}
