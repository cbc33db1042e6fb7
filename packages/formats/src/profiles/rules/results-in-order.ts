import type { MessageFormat } from "@turnkeep/core";
import { CallsById, orderToolResults } from "@turnkeep/core/processors";
import type { Finding, Rule, RuleKind } from "../rule.ts";

/**
 * The results of one message's calls are in the order of the calls, if they are in messages that hold nothing else.
 */
export type ResultsInOrder = Rule<"results-in-order">;

export const resultsInOrder: RuleKind<ResultsInOrder> = {
  fields: {},
  repair: (messages, format) => orderToolResults(messages, { format }),
  breaks: outOfOrder,
};

/** The messages with results that stand behind the result of a later call of the same answer. */
function outOfOrder<M>(messages: readonly M[], format: MessageFormat<M>): Finding[] {
  /** The calls of the answer, and of those directly before it, in their order. */
  let callIds: string[] = [];
  /** Their positions, since the first result came. */
  let positions: CallsById<number> | undefined;
  let furthest = -1;
  return messages.flatMap((message, index) => {
    if (format.role(message) !== "tool") {
      const saidBeside = format.role(message) === "user" && format.toolResults(message).length > 0;
      if (furthest >= 0 || saidBeside) callIds = [];
      furthest = -1;
      for (const { id } of format.toolCalls(message)) callIds.push(id);
      positions = undefined;
      return [];
    }
    const furthestBefore = furthest;
    let isBehind = false;
    for (const { id } of format.toolResults(message)) {
      positions ??= positionsOf(callIds);
      const position = positions.take(id) ?? furthestBefore;
      isBehind ||= position < furthest;
      furthest = Math.max(furthest, position);
    }
    return isBehind ? [[index, "a result stands behind that of a later call"]] : [];
  });
}

function positionsOf(callIds: readonly string[]): CallsById<number> {
  const positions = new CallsById<number>();
  positions.askTogether(callIds.map((id, position) => [id, position]));
  return positions;
}
