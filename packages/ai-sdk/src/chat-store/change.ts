import type { HistoryMessage, MessageFormat } from "@turnkeep/core";
import { isToolUIPart, type UIMessage } from "ai";

/** What a list of messages changes of a record. */
export interface Change<M> {
  /** The stored message that is taken back, with all behind it. */
  readonly rewind?: string | undefined;
  /** Messages that have other content than what is stored under this id. */
  readonly put: readonly { readonly id: string; readonly message: M }[];
  /** New messages, with the ids that they can be stored under. */
  readonly add: readonly { readonly id: string; readonly message: M }[];
}

/**
 * The change from a record, oldest first, to a list of messages that may know less of it, such as that of another device.
 * A message that the list lacks was not taken back by that alone, and one whose calls have come further since stays.
 */
export function changeTo<M extends UIMessage>(
  record: readonly HistoryMessage<M>[],
  messages: readonly M[],
  format: MessageFormat<M>,
): Change<M> {
  const kept = record.filter(({ state }) => state !== "superseded");
  const places = new Map(kept.map(({ message }, index) => [message.id, index]));
  const placeOf = ({ id }: M): number => places.get(id) ?? -1;
  const isChanged = (message: M): boolean => {
    const place = kept[placeOf(message)];
    if (place === undefined || format.equals(place.message, message)) return false;
    return !isBehind(message, place.message);
  };
  const edited = messages.findIndex((message) => message.role === "user" && isChanged(message));
  const before = edited === -1 ? messages : messages.slice(0, edited);
  const rewound = edited === -1 ? remade(kept, messages, placeOf) : placeOf(messages[edited] as M);
  const isTakenBack = (message: M): boolean => rewound !== undefined && placeOf(message) >= rewound;
  const taken = new Set(record.map(({ id }) => id));
  return {
    rewind: rewound === undefined ? undefined : kept[rewound]?.id,
    put: before
      .filter((message) => isChanged(message) && !isTakenBack(message))
      .map((message) => ({ id: kept[placeOf(message)]?.id ?? message.id, message })),
    add: messages
      .filter(
        (message, index) =>
          placeOf(message) === -1 || isTakenBack(message) || (edited !== -1 && index >= edited),
      )
      // The version before an edit keeps its id.
      .map((message) => ({ id: taken.has(message.id) ? crypto.randomUUID() : message.id, message })),
  };
}

/** Whether a message shows a call as it waited which has come to its end in the record. */
function isBehind(message: UIMessage, kept: UIMessage): boolean {
  const over = new Map(kept.parts.filter(isToolUIPart).map((part) => [part.toolCallId, isOver(part.state)]));
  return message.parts.some((part) => isToolUIPart(part) && !isOver(part.state) && over.get(part.toolCallId));
}

function isOver(state: string): boolean {
  return state.startsWith("output-");
}

/** Where the answer stands in whose place the first new message comes, unless something was said behind it. */
function remade<M extends UIMessage>(
  kept: readonly HistoryMessage<M>[],
  messages: readonly M[],
  placeOf: (message: M) => number,
): number | undefined {
  const firstNew = messages.findIndex((message) => placeOf(message) === -1);
  const question = messages[firstNew - 1];
  if (messages[firstNew]?.role !== "assistant" || question?.role !== "user") return undefined;
  const behind = kept.slice(placeOf(question) + 1);
  const isAnswerAlone = behind.length > 0 && behind.every(({ message }) => message.role === "assistant");
  return isAnswerAlone ? placeOf(question) + 1 : undefined;
}
