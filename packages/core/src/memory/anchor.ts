import type { Anchor } from "../memory-call-options.ts";
import { checkObject, wrongOption } from "../option-checks.ts";
import { checkMessageId } from "../stores/checks.ts";
import type { Asking, Attempt } from "./attempt.ts";
import { missing } from "./change.ts";
import { findKept } from "./kept.ts";

/** What must be there for a change to be made: nothing, the memory, or what an anchor holds on to. */
export type MustExist = boolean | Anchor;

/** Errors: `INVALID_OPTION`. */
export function checkMustExist(value: unknown): void {
  if (typeof value === "boolean") return;
  if (typeof value !== "object" || value === null) {
    throw wrongOption("mustExist", value, "true, false or what memory.anchor() answered");
  }
  const { life, messageId, seq } = checkedNames(value);
  if (typeof life !== "string") throw wrongOption("mustExist.life", life, "that of an anchor");
  if (messageId !== undefined) checkMessageId(messageId as string);
  if (messageId === undefined ? seq !== undefined : !Number.isSafeInteger(seq))
    throw wrongOption("mustExist.seq", seq, "that of an anchor");
}

function checkedNames(value: object): { readonly [Name in keyof Anchor]?: unknown } {
  checkObject("mustExist", value, ["life", "messageId", "seq"]);
  return value;
}

/** Holds on to the memory as it was loaded, and to one of its messages. Errors: `NOT_FOUND`. */
export async function anchorAt<M>(
  messageId: string | undefined,
  asking: Asking<M> & Pick<Attempt<M>, "loaded">,
): Promise<Anchor> {
  const { loaded, settings } = asking;
  if (loaded.version === null) throw missing(settings, messageId);
  const { life } = loaded;
  if (messageId === undefined) return { life };
  const found = loaded.live.byId.get(messageId) ?? (await findKept(messageId, asking, ["live", "evicted"]));
  if (found === undefined) throw missing(settings, messageId);
  return { life, messageId, seq: found.seq };
}

/** Errors: `NOT_FOUND` if what must exist is not there. */
export async function checkExists<M>(
  mustExist: MustExist,
  asking: Asking<M> & Pick<Attempt<M>, "loaded">,
): Promise<void> {
  if (mustExist === false) return;
  const { loaded, settings } = asking;
  if (loaded.version === null) throw missing(settings);
  if (mustExist === true) return;
  const { life, messageId, seq } = mustExist;
  if (life !== loaded.life) throw missing(settings);
  if (messageId === undefined || loaded.live.byId.get(messageId)?.seq === seq) return;
  // Where no history is kept, nothing tells a message that was evicted from one that was taken back.
  if (!settings.keepsHistory || !settings.store.capabilities.history) return;
  const kept = await findKept(messageId, asking, ["live", "evicted"]);
  if (kept?.seq !== seq) throw missing(settings, messageId);
}
