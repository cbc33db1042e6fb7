import type { MessageFormat } from "../message-format.ts";
import type { Processor } from "../processors/processor.ts";
import type { Item } from "../steps/item.ts";
import type { Step } from "../steps/step.ts";

/** Decides which reasoning a provider still accepts if it binds reasoning to what stood before it. */
export interface ReasoningRule<M> {
  /** The epoch in which the view is shown. */
  readonly epoch: number;
  /** The model that the view is for; reasoning by another named model is left out. */
  readonly model: string | undefined;
  /** Names the tools of the request; reasoning under others is left out, since they stand before all messages. */
  readonly toolsKey: string | undefined;
  readonly format: MessageFormat<M>;
}

/**
 * Leaves out reasoning that was made after a beginning that has changed since, by another model or under other tools: all
 * of a step's or none. All older reasoning goes with it, since the provider only accepts that the oldest is missing.
 */
export function withoutStaleReasoning<M>(
  steps: readonly Step<M>[],
  { epoch, model, toolsKey, format }: ReasoningRule<M>,
): Step<M>[] {
  // A record that cannot be read has the role of a user.
  const reasons = ({ role, message }: Item<M>): boolean =>
    role === "assistant" && format.hasReasoning(message as M);
  const isOther = (known: string | undefined, asked: string | undefined): boolean =>
    known !== undefined && asked !== undefined && known !== asked;
  const isForeign = (item: Item<M>): boolean =>
    (isOther(item.meta.model, model) || isOther(item.meta.toolsKey, toolsKey)) && reasons(item);
  const isStale = (step: Step<M>): boolean =>
    step.items.some(reasons) && step.items.some((item) => (item.meta.epoch ?? 0) < epoch || isForeign(item));
  const rest = (item: Item<M>): Item<M>[] => {
    // A part of an answer may be bound to reasoning in another part.
    if (!reasons(item) && !(item.part && item.role === "assistant")) return [item];
    const message = format.without(item.message as M, { reasoning: true });
    return message === undefined ? [] : [{ ...item, message }];
  };
  const last = steps.findLastIndex(isStale);
  return steps.flatMap((step, index) => {
    if (index > last || !step.items.some(reasons)) return [step];
    const items = step.items.flatMap(rest);
    return items.length === 0 ? [] : [{ ...step, items }];
  });
}

/**
 * The messages that are left after the processors, without the reasoning after a change of theirs: what they changed may have
 * still been there when it was made. Changes by `eachAlone` processors do not count: they were made then too.
 */
export function afterChanges<M>(
  left: readonly M[],
  stages: readonly { readonly messages: readonly M[] }[],
  processors: readonly Processor<M>[],
  format: MessageFormat<M>,
): readonly M[] {
  const lists = stages.map((stage) => stage.messages);
  const isChange = ({ eachAlone }: Processor<M>, index: number): boolean =>
    eachAlone !== true && !isSame(lists[index], lists[index + 1]);
  const known = lists[processors.findIndex(isChange)];
  if (known === undefined) return left;
  const first = left.findIndex((message, place) => message !== known[place]);
  if (first < 0) return left;
  return left.flatMap((message, place) => {
    if (place < first || !format.hasReasoning(message)) return [message];
    return format.without(message, { reasoning: true }) ?? [];
  });
}

function isSame<M>(before: readonly M[] = [], after: readonly M[] = []): boolean {
  return before.length === after.length && before.every((message, place) => message === after[place]);
}
