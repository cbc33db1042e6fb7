import type { MessageFormat, ToolCallRef } from "@turnkeep/core";
import { openCalls } from "@turnkeep/core/processors";
import { oneOf, optional } from "@turnkeep/core/store-kit";
import { methodOf } from "../method-of.ts";
import { type Rule, type RuleKind, where } from "../rule.ts";

/**
 * The last message is the user's, or holds tool results. With `paused`, it may also be an answer that ends in a call
 * which the provider runs itself, or in its result: the provider continues it.
 */
export type LastMessage = Rule<"last-message", { readonly paused?: boolean | undefined }>;

/** Goes between two answers of the model, and after the last message if that is an answer. */
const goOn = "Please continue.";

/** The model is asked to go on in the same words now and when its next answer stands there: the beginning stays. */
export const lastMessage: RuleKind<LastMessage> = {
  fields: { paused: optional(oneOf(true, false)) },
  repair: (messages, format, rule) =>
    messages.flatMap((message, index) => {
      const next = messages[index + 1];
      if (!isAnswer(message, format, rule)) return [message];
      if (next !== undefined && (format.role(next) !== "assistant" || format.answersInParts === true)) {
        return [message];
      }
      return [message, methodOf(format, "textMessage")("user", goOn)];
    }),
  breaks: (messages, format, rule) =>
    where(
      messages,
      (message, index) => index === messages.length - 1 && isAnswer(message, format, rule),
      "the last message is an answer of the model",
    ),
};

/**
 * Whether the model has said all it had to say. A message with an open call waits for its result; one that ends in a
 * result that it holds waits for what the model makes of it. Of calls that the provider runs itself that is so only where
 * it goes on with a `paused` answer.
 */
function isAnswer<M>(message: M, format: MessageFormat<M>, { paused }: LastMessage): boolean {
  if (format.role(message) !== "assistant" || format.isBoundary(message)) return false;
  const calls = format.toolCalls(message);
  const waits = (call: ToolCallRef): boolean => paused === true || call.providerExecuted !== true;
  if (openCalls(calls, format.toolResults(message)).some(waits)) return false;
  const last = format.pieces(message).at(-1)?.of;
  if (last !== "tool-result") return true;
  const lastCall = calls.at(-1);
  return lastCall === undefined ? paused !== true : !waits(lastCall);
}
