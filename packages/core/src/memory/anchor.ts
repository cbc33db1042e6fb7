import type { Anchor } from "../memory-call-options.ts";
import { type Check, such, worded, wrongOption } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import { checkMessageId } from "../stores/checks.ts";
import type { Reading } from "./attempt.ts";
import { missing } from "./change.ts";
import { findRecord } from "./stored-records.ts";

/** What must be there for a change to be made: nothing, the memory, or what an anchor holds on to. */
export type MustExist = boolean | Anchor;

const anchorFields = {
  life: such<string>("that of an anchor", (life) => typeof life === "string"),
  messageId: optional(worded(checkMessageId)),
  seq: optional(),
} satisfies Fields<Anchor>;

export const mustExist: Check<MustExist> = (name, value) => {
  if (typeof value === "boolean") return;
  if (typeof value !== "object" || value === null) {
    throw wrongOption(name, value, "true, false or what memory.anchor() answered");
  }
  const { messageId, seq } = takeOptions<Anchor, typeof anchorFields>(
    name,
    anchorFields,
    value as Anchor,
    `${name}.`,
  );
  if (messageId === undefined ? seq !== undefined : !Number.isSafeInteger(seq))
    throw wrongOption(`${name}.seq`, seq, "that of an anchor");
};

/** Holds on to the memory as it was loaded, and to one of its messages. Errors: `NOT_FOUND`. */
export async function anchorAt<M>(messageId: string | undefined, reading: Reading<M>): Promise<Anchor> {
  const { loaded, settings } = reading;
  if (loaded.version === null) throw missing(settings, messageId);
  const { life } = loaded;
  if (messageId === undefined) return { life };
  const found =
    loaded.live.byId.get(messageId) ?? (await findRecord(messageId, reading, ["live", "evicted"]));
  if (found === undefined) throw missing(settings, messageId);
  return { life, messageId, seq: found.seq };
}

/** Errors: `NOT_FOUND` if what must exist is not there. */
export async function checkExists<M>(mustExist: MustExist, reading: Reading<M>): Promise<void> {
  if (mustExist === false) return;
  const { loaded, settings } = reading;
  if (loaded.version === null) throw missing(settings);
  if (mustExist === true) return;
  const { life, messageId, seq } = mustExist;
  if (life !== loaded.life) throw missing(settings);
  if (messageId === undefined || loaded.live.byId.get(messageId)?.seq === seq) return;
  // Where no history is kept, nothing tells a message that was evicted from one that was taken back.
  if (!settings.keepsHistory) return;
  const kept = await findRecord(messageId, reading, ["live", "evicted"]);
  if (kept?.seq !== seq) throw missing(settings, messageId);
}
