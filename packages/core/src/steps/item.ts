import { invalidOption, isTurnkeepError, TurnkeepError } from "../errors.ts";
import type { ApprovalRef, MessageFormat, Role, ToolCallRef, ToolResultRef } from "../message-format.ts";
import { shown, wrongOption } from "../option-checks.ts";
import { parsedJson } from "../parsed-json.ts";
import type { StoredMessage } from "../store-contract.ts";
import { quoted } from "../stores/text.ts";
import type { TokenCounter } from "../window-options.ts";

/** What core stores beside a message, as JSON text in the store's `meta`. */
export interface ItemMeta {
  /** Token counts by the counter's name. */
  readonly tokens?: Readonly<Record<string, number>> | undefined;
  /** The memory's epoch when the message was added. */
  readonly epoch?: number | undefined;
  /** The model that made it. */
  readonly model?: string | undefined;
  /** Set for a derived message: it stands for everything up to this `seq`, and is not part of the history. */
  readonly derived?: { readonly through: number } | undefined;
  /** A system message that was put in front when it was added. */
  readonly front?: boolean | undefined;
  /** Ids of calls whose result or approval came after the model was shown them as interrupted. */
  readonly late?: readonly string[] | undefined;
  /** What tells a change that must not be mistaken for another's, which may add the same under the caller's own id. */
  readonly by?: string | undefined;
}

/** What a memory asks the format about a message, once. */
export interface ItemFacts<M> {
  /** `undefined` if the record cannot be read; then `error` says why. */
  readonly message: M | undefined;
  readonly error: TurnkeepError | undefined;
  readonly role: Role;
  readonly calls: readonly ToolCallRef[];
  readonly results: readonly ToolResultRef[];
  readonly approvals: readonly ApprovalRef[];
  readonly boundary: boolean;
  /** Whether it may be one of several parts of an answer. */
  readonly part: boolean;
  /** Whether its calls are answered in it. */
  readonly inPlace: boolean;
  readonly pinned: boolean;
  /** 0 without a counter. */
  readonly tokens: number;
}

/** One live message, as a memory works with it. */
export interface Item<M> extends ItemFacts<M> {
  readonly id: string;
  readonly seq: number;
  readonly createdAt: number;
  readonly payload: string;
  readonly meta: ItemMeta;
  /** `meta` as stored; `undefined` while the item has not been written as it is now. */
  readonly metaText: string | undefined;
}

/** Decides how items are read; the same for all items of a memory. */
export interface ItemReader<M> {
  readonly format: MessageFormat<M>;
  readonly counter?: TokenCounter | undefined;
  readonly pinned?: ((message: M) => boolean) | undefined;
}

/** Asks the format, the counter and `pinned` about a message. */
export function factsOf<M>(
  message: M,
  reader: ItemReader<M>,
  stored?: ItemMeta,
): ItemFacts<M> & { readonly message: M } {
  const { format, counter } = reader;
  return {
    message,
    error: undefined,
    role: format.role(message),
    calls: format.toolCalls(message),
    results: format.toolResults(message),
    approvals: format.approvals(message),
    boundary: format.isBoundary(message),
    part: format.answersInParts === true,
    inPlace: format.interrupted !== undefined,
    pinned: isPinned(message, reader),
    tokens:
      counter === undefined ? 0 : (stored?.tokens?.[counter.name] ?? countTokens(message, counter, format)),
  };
}

function isPinned<M>(message: M, { pinned }: ItemReader<M>): boolean {
  const answer: unknown = pinned?.(message);
  if (answer === undefined || typeof answer === "boolean") return answer === true;
  throw wrongOption("The result of window.pinned", answer, "true or false");
}

export function countTokens<M>(message: M, counter: TokenCounter, format: MessageFormat<M>): number {
  const count = counter.count(message, format);
  if (!Number.isSafeInteger(count) || count < 0) {
    throw invalidOption(
      `The token counter ${quoted(counter.name)} answered ${shown(count)}; it must answer a non-negative integer.`,
    );
  }
  return count;
}

/** The tokens of all messages of a view. */
export function tokensOf<M>(
  messages: readonly M[],
  items: readonly Item<M>[],
  reader: ItemReader<M>,
): number {
  const count = tokensIn(items, reader);
  return messages.reduce((sum, message) => sum + count(message), 0);
}

/** The tokens of a message in a view: the stored count if it is shown unchanged, else counted. 0 without a counter. */
export function tokensIn<M>(
  items: readonly Item<M>[],
  { counter, format }: ItemReader<M>,
): (message: M) => number {
  if (counter === undefined) return () => 0;
  const stored = new Map(items.map((item) => [item.message, item.tokens]));
  return (message) => stored.get(message) ?? countTokens(message, counter, format);
}

/** The members of an item that do not come from the format. */
type ItemPlace<M> = Omit<Item<M>, keyof ItemFacts<M>>;

export function itemOf<M>(place: ItemPlace<M>, facts: ItemFacts<M>): Item<M> {
  const { id, seq, createdAt, payload, meta, metaText } = place;
  const { message, error, role, calls, results, approvals, boundary, part, inPlace, pinned, tokens } = facts;
  // Listed one by one: this runs for every message, and a spread of so many members would cost more than the rest.
  return {
    message,
    error,
    role,
    calls,
    results,
    approvals,
    boundary,
    part,
    inPlace,
    pinned,
    tokens,
    id,
    seq,
    createdAt,
    payload,
    meta,
    metaText,
  };
}

/** What the format said of messages that cannot change: views hold the same objects again and again. */
const knownFacts = new WeakMap<object, WeakMap<object, ItemFacts<unknown>>>();

/** As `factsOf`; of a frozen message the format is asked once, however many lists hold it. */
function knownFactsOf<M>(message: M, reader: ItemReader<M>): ItemFacts<M> {
  const { format, counter } = reader;
  if (typeof message !== "object" || message === null || !Object.isFrozen(message))
    return factsOf(message, reader);
  const known = knownFacts.get(format) ?? new WeakMap<object, ItemFacts<unknown>>();
  knownFacts.set(format, known);
  let facts = known.get(message) as ItemFacts<M> | undefined;
  if (facts === undefined) {
    facts = factsOf(message, { format });
    known.set(message, facts);
  }
  const tokens = counter === undefined ? 0 : countTokens(message, counter, format);
  return { ...facts, tokens, pinned: isPinned(message, reader) };
}

/** The messages of a list as items; an item's `seq` is its message's index, from `first` on. */
export function itemsOf<M>(messages: readonly M[], reader: ItemReader<M>, first = 0): Item<M>[] {
  return messages.map((message, index) => {
    const seq = first + index;
    const place = { id: String(seq), seq, createdAt: 0, payload: "", meta: {}, metaText: undefined };
    return itemOf(place, knownFactsOf(message, reader));
  });
}

/** Reads a stored message. A record that cannot be read becomes an item with an `error`, so that it hides no other. */
export function readItem<M>(stored: StoredMessage, reader: ItemReader<M>): Item<M> {
  const { id, seq, createdAt, payload, meta: metaText } = stored;
  const placeWith = (meta: ItemMeta): ItemPlace<M> => ({ id, seq, createdAt, payload, meta, metaText });
  try {
    const meta = parseMeta(metaText);
    return itemOf(placeWith(meta), factsOf(deepFreeze(decodeStored(payload, reader.format)), reader, meta));
  } catch (error) {
    if (!isTurnkeepError(error, "CORRUPT_RECORD") && !isTurnkeepError(error, "UNSUPPORTED_VERSION"))
      throw error;
    return itemOf(placeWith({}), unreadable<M>(namingRecord(error, id)));
  }
}

/** The message in a stored payload. Errors: `CORRUPT_RECORD`, also where the store found no record; `UNSUPPORTED_VERSION`. */
export function decodeStored<M>(payload: string, format: MessageFormat<M>): M {
  if (payload !== "") return format.decode(payload);
  throw new TurnkeepError(
    "CORRUPT_RECORD",
    "Its record is gone from the database, or damaged. Restore it, or remove the message.",
  );
}

function unreadable<M>(error: TurnkeepError): ItemFacts<M> {
  return {
    message: undefined,
    error,
    role: "user",
    calls: [],
    results: [],
    approvals: [],
    boundary: false,
    part: false,
    inPlace: false,
    pinned: false,
    tokens: 0,
  };
}

/** The same error, naming the record it is about. */
export function namingRecord(error: TurnkeepError, messageId: string): TurnkeepError {
  return new TurnkeepError(error.code, `Message ${quoted(messageId)}: ${error.message}`, {
    cause: error,
    details: { ...error.details, messageIds: [messageId] },
  });
}

/** What made an item unreadable, for one call: a call tells its error where it was met. */
export function freshError({ code, message, cause, details }: TurnkeepError): TurnkeepError {
  return new TurnkeepError(code, message, { cause, details });
}

/** The message behind an item; throws what made it unreadable. */
export function messageOf<M>(item: Item<M>): M {
  if (item.error !== undefined) throw freshError(item.error);
  return item.message as M;
}

export function parseMeta(text: string | undefined): ItemMeta {
  if (text === undefined) return {};
  const value = parsedJson(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as ItemMeta;
  throw new TurnkeepError(
    "CORRUPT_RECORD",
    "Its meta is not a JSON object. Restore the record, or remove it.",
  );
}

/** JSON text of what is set; `undefined` when nothing is. */
export function metaText(meta: ItemMeta): string | undefined {
  const text = JSON.stringify(meta);
  return text === "{}" ? undefined : text;
}

/** Freezes what JSON can hold; binary data cannot be frozen and stays as it is. */
export function deepFreeze<T>(value: T): T {
  const pending: object[] = canFreeze(value) ? [value] : [];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    Object.freeze(next);
    for (const member of Object.values(next)) if (canFreeze(member)) pending.push(member);
  }
  return value;
}

function canFreeze(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Object.isFrozen(value) && !ArrayBuffer.isView(value);
}
