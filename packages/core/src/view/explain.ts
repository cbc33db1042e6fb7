import type { MemorySettings } from "../memory-settings.ts";
import type { ExplainedMessage, Explanation } from "../memory-view.ts";
import type { MessageFormat } from "../message-format.ts";
import type { Item } from "../steps/item.ts";
import { tokensIn } from "../steps/item-facts.ts";
import type { Live } from "../steps/live.ts";
import { append } from "../values.ts";
import type { Limits } from "../window/limits.ts";
import { ChangedMessages } from "./changed-messages.ts";
import type { View } from "./view.ts";

/** A message on its way through the stages of a view. */
interface Traced<M> {
  readonly item: Item<M> | undefined;
  state: ExplainedMessage<M>["state"];
  by: string | undefined;
  shown: M | undefined;
}

export function explainView<M>(
  view: View<M>,
  live: Live<M>,
  left: readonly Item<M>[],
  { reader }: MemorySettings<M>,
  limits: Limits,
  nextSeq: number,
): Explanation<M> {
  const hidden = new Set(view.hidden);
  const through = live.items.reduce((last, { meta }) => Math.max(last, meta.derived?.through ?? 0), 0);
  const gone = left.map((item): Traced<M> => {
    return { item, state: "evicted", by: item.seq <= through ? "compact" : "window", shown: undefined };
  });
  let traced = live.items.map((item): Traced<M> => {
    if (hidden.has(item)) return { item, state: "evicted", by: "window", shown: undefined };
    return { item, state: "shown", by: undefined, shown: item.message };
  });
  for (const stage of view.stages) traced = follow(traced, stage, reader.format);
  const count = tokensIn(live.items, reader);
  const messages = [...gone, ...traced].map(({ item, state, by, shown }): ExplainedMessage<M> => {
    return {
      // A message given for this view only has no place in memory, and no id there.
      id: item !== undefined && item.seq < nextSeq ? item.id : undefined,
      state,
      by,
      stored: (item?.given ?? item)?.message,
      shown,
      tokens: shown === undefined ? 0 : count(shown),
    };
  });
  const { maxTokens, maxMessages } = limits;
  return {
    messages,
    tokens: limits.taken(messages.reduce((sum, { tokens }) => sum + tokens, 0)),
    maxTokens: Number.isFinite(maxTokens) ? maxTokens : undefined,
    maxMessages: Number.isFinite(maxMessages) ? maxMessages : undefined,
    overflow: view.overflow && { needed: view.overflow.needed, limit: view.overflow.limit },
  };
}

/** Follows one stage: which messages passed unchanged, and which were changed, left out, or inserted. */
function follow<M>(
  traced: readonly Traced<M>[],
  stage: View<M>["stages"][number],
  format: MessageFormat<M>,
): Traced<M>[] {
  const { by, name, messages } = stage;
  const isProcessor = by === "processor";
  const alive = traced.filter(({ shown }) => shown !== undefined);
  const sources = sourcesOf(
    stage,
    alive.map(({ shown }) => shown as M),
    format,
  );
  const following = messages.map((message, index): Traced<M> => {
    const place = sources[index];
    const source = place === undefined ? undefined : alive[place];
    if (source === undefined) return { item: undefined, state: "repaired", by: name, shown: message };
    if (source.shown === message) return source;
    const isReasoning =
      by === "repair" && format.hasReasoning(source.shown as M) && !format.hasReasoning(message);
    return {
      ...source,
      state: isProcessor ? "cut" : "repaired",
      by: isReasoning ? "reasoning" : name,
      shown: message,
    };
  });
  return inOrder(traced, following, (one) => {
    return { ...one, state: isProcessor ? "filtered" : "repaired", by: name, shown: undefined };
  });
}

/** For each message of a stage, the place that it had before, changed or not; `undefined` for one that was inserted. */
function sourcesOf<M>(
  { by, messages }: View<M>["stages"][number],
  before: readonly M[],
  format: MessageFormat<M>,
): (number | undefined)[] {
  const unmatched = new Map(before.map((message, place) => [message, place]));
  const unchanged = messages.map((message) => {
    const place = unmatched.get(message);
    unmatched.delete(message);
    return place;
  });
  const nexts = [...unchanged];
  for (let index = nexts.length - 2; index >= 0; index--) nexts[index] ??= nexts[index + 1];
  // A result that repair inserted for one call is not the changed form of another call's result.
  const idsOf = (message: M): string[] =>
    by === "repair" && format.role(message) === "tool"
      ? format.toolResults(message).map(({ id }) => `result ${id}`)
      : [];
  const changed = new ChangedMessages();
  for (const [message, place] of unmatched) changed.add(place, [format.role(message), ...idsOf(message)]);
  let previous = -1;
  return messages.map((message, index) => {
    const same = unchanged[index];
    if (same !== undefined) {
      previous = same;
      return same;
    }
    // A changed message keeps its neighbours; only repair also moves messages.
    const ids = idsOf(message);
    return changed.take(
      ids.length > 0 ? ids : [format.role(message)],
      by === "repair" ? -1 : previous,
      nexts[index] ?? Number.POSITIVE_INFINITY,
    );
  });
}

/** The messages that passed, in their new order, and each of the others after its former predecessor. */
function inOrder<M>(
  before: readonly Traced<M>[],
  following: readonly Traced<M>[],
  leave: (one: Traced<M>) => Traced<M>,
): Traced<M>[] {
  const places = new Map<unknown, number>();
  for (const [index, one] of following.entries()) places.set(one.item ?? one.shown, index);
  const behind = new Map<number, Traced<M>[]>();
  let place = -1;
  for (const one of before) {
    const found = places.get(one.item ?? one.shown);
    if (found !== undefined) place = found;
    else {
      const left = one.shown === undefined ? one : leave(one);
      // What was inserted by one stage and removed by another is nobody's message.
      if (left.item !== undefined) append(behind, place, left);
    }
  }
  return [
    ...(behind.get(-1) ?? []),
    ...following.flatMap((one, index) => [one, ...(behind.get(index) ?? [])]),
  ];
}
