/** Compiled by the type check, never run: what a table of options refuses. */

import { type Check, callback, integer, oneOf } from "../../src/option-checks.ts";
import { type Fields, optional, takeOptions } from "../../src/option-fields.ts";
import { type ConnectionOptions, nameText, takeStoreOptions, ttl } from "../../src/store-kit.ts";

interface Lane {
  readonly width?: number | undefined;
  readonly kind?: "fast" | "slow" | undefined;
  readonly open?: boolean | undefined;
  readonly onEnter?: ((name: string) => void) | undefined;
  readonly name: string;
}

const name: Check<string> = () => {};
const truth = oneOf(true, false);
const lane = {
  width: optional(integer(1), 3),
  kind: optional(oneOf("fast", "slow"), "fast"),
  open: optional(truth),
  onEnter: optional(callback),
  name,
} satisfies Fields<Lane>;

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._proof: Same<A, B> extends true ? [] : [never]): void => undefined;

export function whatIsTakenHasItsDefaults(options: Lane): void {
  const taken = takeOptions("lane", lane, options);
  same<typeof taken.width, number>();
  same<typeof taken.kind, "fast" | "slow">();
  same<typeof taken.open, boolean | undefined>();
  same<typeof taken.onEnter, ((name: string) => void) | undefined>();
  same<typeof taken.name, string>();
}

export const tables: readonly Fields<Lane>[] = [
  lane,
  // @ts-expect-error an option is missing
  { width: optional(integer(1)), kind: optional(oneOf("fast")), open: optional(truth), name },
  // @ts-expect-error an option is misspelt
  { ...lane, widht: optional(integer(1)) } satisfies Fields<Lane>,
  // @ts-expect-error not the option's type
  { ...lane, width: optional(truth) },
  // @ts-expect-error no such choice
  { ...lane, kind: optional(oneOf("fast", "slwo")) },
  // @ts-expect-error not a default of that type
  { ...lane, width: optional(integer(1), "3") },
  // @ts-expect-error it may be left out
  { ...lane, width: integer(1) },
  // @ts-expect-error it must be given
  { ...lane, name: optional(name) },
];

type WireConnection = ConnectionOptions<{ send(text: string): void }>;
type WireOptions = WireConnection & {
  readonly prefix?: string | undefined;
  readonly ttlMs?: number | undefined;
};
const ofWire = {
  prefix: optional(nameText(), "chat_"),
  ttlMs: optional(ttl),
} satisfies Fields<Omit<WireOptions, keyof WireConnection>>;

export function aStoreTakesItsConnectionApart(options: WireOptions): WireConnection {
  const rules = {
    factory: "wireStore",
    client: { method: "send", is: "a Wire" },
    schemes: ["wire://"],
    config: "new Wire(config)",
    options: ofWire,
  };
  const { connection, prefix, ttlMs, ...rest } = takeStoreOptions(options, rules);
  same<typeof prefix, string>();
  same<typeof ttlMs, number | undefined>();
  same<keyof typeof rest, never>();
  // @ts-expect-error a misspelt rule
  takeStoreOptions(options, { ...rules, shemes: [] });
  // @ts-expect-error a misspelt rule
  nameText({ maxByte: 5 });
  return connection;
}

export const ofStores: readonly Fields<Omit<WireOptions, keyof WireConnection>>[] = [
  // @ts-expect-error an option is missing
  { prefix: ofWire.prefix },
  // @ts-expect-error one too many
  { ...ofWire, url: optional(nameText()) } satisfies Fields<Omit<WireOptions, keyof WireConnection>>,
];
