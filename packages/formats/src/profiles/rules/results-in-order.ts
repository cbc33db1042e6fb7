import type { MessageFormat } from "@turnkeep/core";
import { orderToolResults } from "@turnkeep/core/processors";
import { append } from "../../reshape.ts";
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
  /** By id, the positions of the answer's calls whose results are still to come. */
  let positions = new Map<string, number[]>();
  let count = 0;
  let furthest = -1;
  return messages.flatMap((message, index) => {
    if (format.role(message) !== "tool") {
      const saidBeside = format.role(message) === "user" && format.toolResults(message).length > 0;
      if (furthest >= 0 || saidBeside) positions = new Map();
      furthest = -1;
      for (const { id } of format.toolCalls(message)) append(positions, id, count++);
      return [];
    }
    const furthestBefore = furthest;
    let isBehind = false;
    for (const { id } of format.toolResults(message)) {
      const position = positions.get(id)?.shift() ?? furthestBefore;
      isBehind ||= position < furthest;
      furthest = Math.max(furthest, position);
    }
    return isBehind ? [[index, "a result stands behind that of a later call"]] : [];
  });
}
