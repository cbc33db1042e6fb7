import type { Item } from "../steps/item.ts";
import type { Attempt } from "./attempt.ts";
import { notFound } from "./change.ts";
import { coveredBy, refill } from "./refill.ts";
import { allRecords, findRecord } from "./stored-records.ts";
import { parentOf } from "./tree.ts";

/** Supersedes that message and all later ones; what the window now has room for comes back. */
export async function rewindTo<M>(attempt: Attempt<M>, messageId: string): Promise<void> {
  const { draft, settings } = attempt;
  const live = draft.live.byId.get(messageId);
  const target = live ?? (await findRecord(messageId, attempt));
  if (target === undefined) throw notFound(messageId, settings, "there is no such message");
  if ("state" in target && target.state !== "evicted") {
    throw notFound(messageId, settings, "it was superseded before, so there is nothing to go back to");
  }
  const derived = live?.meta.derived;
  // Everything after a derived message begins after all that it stands for.
  const from = derived === undefined ? target.seq : derived.through + 1;
  const isLater = (item: Item<M>): boolean =>
    item === live || (!settings.isFront(item) && (item.meta.derived?.through ?? item.seq) >= from);
  draft.leave(draft.live.items.filter(isLater), "superseded");
  const later = await allRecords({ after: from - 1, states: ["evicted"] }, attempt);
  draft.parts.move(later, "superseded", "evicted");
  draft.continueAfter(derived?.through ?? parentOf(target, attempt.loaded.lost));
  await refill(attempt, coveredBy(draft.live), from);
}
