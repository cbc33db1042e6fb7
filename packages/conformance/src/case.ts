import type { StoreCapabilities } from "@turnkeep/core";
import type { ConformanceContext } from "./context.ts";
import type { ConformanceHarness } from "./harness.ts";

/**
 * The groups of cases, in the order in which they run.
 *
 * @example
 * ```ts
 * import { conformanceGroups } from "@turnkeep/conformance";
 *
 * conformanceGroups.includes("atomicity"); // true
 * ```
 */
export const conformanceGroups = [
  "basic",
  "order",
  "atomicity",
  "versions",
  "replay",
  "states",
  "history",
  "list",
  "ids",
  "payloads",
  "sizes",
  "ttl",
  "isolation",
  "errors",
  "lifecycle",
  "model",
] as const;

/** The subject of a case. */
export type ConformanceGroup = (typeof conformanceGroups)[number];

/** What a store must declare for a case to apply. A store that declares otherwise skips the case. */
export interface CapabilityRequirement {
  readonly durable?: boolean | undefined;
  readonly shared?: boolean | undefined;
  readonly history?: boolean | undefined;
  readonly list?: boolean | undefined;
  readonly newest?: boolean | undefined;
  readonly ttl?: boolean | undefined;
  readonly delta?: boolean | undefined;
  /** At most this many bytes. */
  readonly maxMessageBytes?: number | undefined;
  /** Declared, and at most this many bytes. */
  readonly maxMemoryBytes?: number | undefined;
  /** Limits that must not be lower: what the case sends would not fit. */
  readonly atLeast?: Partial<Record<"maxMessageBytes" | "maxMemoryBytes", number>> | undefined;
}

/** An optional member of a harness that some cases need. */
export type HarnessRequirement = Exclude<
  keyof ConformanceHarness,
  "create" | "destroy" | "reopen" | "advance"
>;

/**
 * One case: data and a function, bound to no test runner.
 *
 * @example
 * ```ts
 * import type { ConformanceCase } from "@turnkeep/conformance";
 *
 * const mine: ConformanceCase = {
 *   name: "a memory that nobody began is absent",
 *   group: "basic",
 *   sentence: "An unknown id is an empty snapshot, not an error.",
 *   async run({ store, memoryId }) {
 *     const { version } = await store.getMessages(memoryId());
 *     if (version !== null) throw new Error(`expected version null, saw ${version}`);
 *   },
 * };
 * ```
 */
export interface ConformanceCase {
  /** Unique within the kit. */
  readonly name: string;
  readonly group: ConformanceGroup;
  /** The sentence of the contract that the case proves. */
  readonly sentence: string;
  readonly requires?: CapabilityRequirement | undefined;
  /** What the harness must offer. A harness without it skips the case, and the report says so. */
  readonly needs?: readonly HarnessRequirement[] | undefined;
  /** Moves so much data, or waits so long, that it gets five times the usual time limit. */
  readonly heavy?: boolean | undefined;
  /** A rule that is new in this minor version: a failure is a warning and does not count yet. */
  readonly provisional?: boolean | undefined;
  /** Returns if the store keeps the sentence; otherwise throws an error that says what was expected and seen. */
  run(context: ConformanceContext): Promise<void>;
}

/** Cases of one group. */
export function inGroup(
  group: ConformanceGroup,
  members: readonly Omit<ConformanceCase, "group">[],
): readonly ConformanceCase[] {
  return members.map((member) => ({ ...member, group }));
}

/** What a store declares that makes it skip a case; `undefined`: the case runs. */
export function unmetRequirement(
  requires: CapabilityRequirement | undefined,
  capabilities: StoreCapabilities,
): string | undefined {
  const { atLeast = {}, ...others } = requires ?? {};
  for (const [name, least] of Object.entries(atLeast)) {
    const declared = capabilities[name as keyof typeof atLeast];
    if (declared !== undefined && declared < least) return `declares ${name}: ${declared}`;
  }
  for (const [name, wanted] of Object.entries(others)) {
    if (wanted === undefined) continue;
    const declared = capabilities[name as keyof typeof others];
    if (declared === undefined) return `declares no ${name}`;
    if (typeof wanted === "number" ? Number(declared) > wanted : declared !== wanted) {
      return `declares ${name}: ${declared}`;
    }
  }
  return undefined;
}

/** What a harness lacks that a case needs; `undefined`: the case runs. */
export function unmetNeed(
  needs: readonly HarnessRequirement[] | undefined,
  harness: ConformanceHarness,
): string | undefined {
  const missing = (needs ?? []).filter((name) => typeof harness[name] !== "function");
  return missing.length === 0 ? undefined : `has a harness without ${missing.join(" and ")}`;
}

/** A member that a case needs, and that the harness therefore has, unless the case forgot to say so. */
export function neededFrom<Name extends HarnessRequirement>(
  harness: ConformanceHarness,
  name: Name,
): NonNullable<ConformanceHarness[Name]> {
  const member = harness[name];
  if (member === undefined)
    throw new Error(`The case uses ${name} of the harness without naming it in needs`);
  // A harness may be of a class, whose methods use `this`.
  return member.bind(harness) as typeof member;
}

/** The members that a harness lacks and that cases need which apply to the store: what they show is not shown. */
export function lackingOf(
  members: readonly ConformanceCase[],
  capabilities: StoreCapabilities,
  harness: ConformanceHarness,
): string[] {
  const applying = members.filter(({ requires }) => unmetRequirement(requires, capabilities) === undefined);
  // Without it the durability cases run, but over a database that was never away.
  const needed = new Set<keyof ConformanceHarness>(capabilities.durable ? ["reopen"] : []);
  for (const { needs = [] } of applying) for (const name of needs) needed.add(name);
  return [...needed].filter((name) => typeof harness[name] !== "function").sort();
}
