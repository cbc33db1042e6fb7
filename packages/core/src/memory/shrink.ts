import { abortSignal } from "../abort.ts";
import type { ShrinkOptions, Shrunk } from "../memory-call-options.ts";
import type { MemorySettings } from "../memory-settings.ts";
import { such } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import type { Item, ItemReader } from "../steps/item.ts";
import { isDerived, isPinned, isStanding, type Step } from "../steps/step.ts";
import { itemsOfSteps, shownSteps } from "../view/view.ts";
import { groupsOf, withinTurn } from "../window/groups.ts";
import type { Attempt } from "./attempt.ts";
import { evictAll } from "./evict.ts";
import { sizeOf } from "./size.ts";

const shrinkFields = {
  target: optional(such<number>("greater than 0 and less than 1", isProperShare), 0.7),
  signal: optional(abortSignal),
} satisfies Fields<ShrinkOptions>;

/** Errors: `INVALID_OPTION`. */
export function takeShrinkOptions(
  options: ShrinkOptions | undefined,
): ShrinkOptions & { readonly target: number } {
  return takeOptions("shrink's argument", shrinkFields, options);
}

function isProperShare(target: unknown): boolean {
  return typeof target === "number" && target > 0 && target < 1;
}

interface Totals {
  readonly size: number;
  readonly messages: number;
  readonly tokens: number | undefined;
}

/**
 * Plans one shrink. After a conflict it aims at the same size as its first attempt, so that messages removed by
 * somebody else in the meantime do not cause more removals.
 */
export function shrinkOnce<M>(
  target: number,
  hiddenIn: (attempt: Attempt<M>) => Promise<readonly Item<M>[]>,
): (attempt: Attempt<M>) => Promise<Shrunk | false> {
  let before: Totals | undefined;
  return async (attempt) => {
    const { draft, settings } = attempt;
    draft.reason = "shrink";
    const { reader, window, profile } = settings;
    const hidden = new Set((await hiddenIn(attempt)).flatMap(({ id }) => draft.live.byId.get(id) ?? []));
    const steps = shownSteps(draft.live, hidden, window.unit, profile);
    const shown = itemsOfSteps(steps, draft.live, hidden);
    const now = totalsOf(shown, reader);
    const isSmaller = before !== undefined && now.size < before.size;
    before ??= now;
    const leaving = new Set<Item<M>>();
    let { size } = now;
    for (const group of leavingInOrder(steps, settings)) {
      if (size <= before.size * target && (isSmaller || leaving.size > 0)) break;
      const items = group.flatMap((step) => step.items).filter((item) => !hidden.has(item));
      for (const item of items) leaving.add(item);
      size -= sizeOf(items, reader);
    }
    if (leaving.size === 0 && !isSmaller) return false;
    // Otherwise what the window hid would be shown again in the room that is made here.
    if (leaving.size > 0) evictAll(draft, [...hidden, ...leaving]);
    const after = totalsOf(
      shown.filter(({ id }) => draft.live.byId.has(id)),
      reader,
    );
    return {
      messageIds: draft.parts.movedIds().shrink ?? [],
      messagesBefore: before.messages,
      messagesAfter: after.messages,
      tokensBefore: before.tokens,
      tokensAfter: after.tokens,
    };
  };
}

function totalsOf<M>(items: readonly Item<M>[], reader: ItemReader<M>): Totals {
  const size = sizeOf(items, reader);
  return { size, messages: items.length, tokens: reader.counter === undefined ? undefined : size };
}

/** What may leave a view, group by group, but never the last; a derived message only if there is no other. */
function leavingInOrder<M>(
  shown: readonly Step<M>[],
  settings: MemorySettings<M>,
): readonly (readonly Step<M>[])[] {
  const steps = shown.filter((step) => !isStanding(step));
  const said = steps.filter((step) => !isDerived(step));
  if (said.length === 0) return [];
  const { older, newest } = groupsOf(said, settings.window.unit);
  const groups = [...older, ...withinTurn(newest)].filter((group) => !group.some(isPinned));
  return groups.length > 0 ? groups : steps.filter(isDerived).map((step) => [step]);
}
