import type { Item } from "./item.ts";
import type { Step } from "./step.ts";

export function isLoose<M>(item: Item<M>, askers: readonly (Step<M> | undefined)[]): boolean {
  return item.role === "tool" ? askers.some((asker) => asker !== askers[0]) : askers.length > 0;
}

/** The calls about which a message holds both a request and its response. */
export function approvedIn<M>({ approvals }: Pick<Item<M>, "approvals">): Set<string> {
  const responses = new Set(approvals.flatMap((each) => (each.kind === "response" ? each.approvalId : [])));
  return new Set(
    approvals.flatMap((each) =>
      each.kind === "request" && responses.has(each.approvalId) ? each.toolCallId : [],
    ),
  );
}

/** Whether the model said it: a derived message may have its role. */
export function isAssistants<M>(item: Item<M>): boolean {
  return item.role === "assistant" && item.meta.derived === undefined;
}

/** Whether it is an answer of the model, or what was stored of one. Parts of answers are told by other rules. */
export function isAnswer<M>(item: Item<M>): boolean {
  return isAssistants(item) && !item.part;
}

/** Whether the model said both, and nothing was added between them: not even what has left since. */
export function isDirectlyBehind<M>(item: Item<M>, before: Item<M> | undefined): boolean {
  if (before === undefined || item.boundary || !isAnswer(item) || !isAnswer(before)) return false;
  return before.seq + 1 === item.seq;
}

/** Whether it is a system message that stands for the whole conversation, and no other. */
export function isPrompt<M>({ role, meta }: Pick<Item<M>, "role" | "meta">): boolean {
  return role === "system" && meta.positioned !== true;
}

/** Whether it sets what holds from where it was said, until another one sets the same. */
export function isSetting<M>(item: Item<M>): boolean {
  return item.sets.length > 0 && !isPrompt(item);
}

export function isSaid<M>(item: Item<M> | undefined): boolean {
  return item !== undefined && item.role !== "system" && item.meta.derived === undefined;
}
