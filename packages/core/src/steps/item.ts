import { isTurnkeepError, quoted, TurnkeepError } from "../errors.ts";
import type { ApprovalRef, MessageFormat, Role, ToolCallRef, ToolResultRef } from "../message-format.ts";
import { parsedJson } from "../parsed-json.ts";
import type { StoredMessage } from "../store-contract.ts";
import type { TokenCounter } from "../window-options.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { factsOf, knownFactsOf } from "./item-facts.ts";

/** What core stores beside a message, as JSON text in the store's `meta`. */
export interface ItemMeta {
  /** Token counts by the counter's name. */
  readonly tokens?: Readonly<Record<string, number>> | undefined;
  /** The memory's epoch when the message was added. */
  readonly epoch?: number | undefined;
  /** The model that made it. */
  readonly model?: string | undefined;
  /** Which tools the model was offered when it made it. */
  readonly toolsKey?: string | undefined;
  /** Set for a derived message: it stands for everything up to this `seq`, and is not part of the history. */
  readonly derived?: { readonly through: number } | undefined;
  /** A system message that was put in front when it was added. */
  readonly front?: boolean | undefined;
  /** A system message that stays where it was said. Any other is the prompt. */
  readonly positioned?: boolean | undefined;
  /** Ids of calls whose result or approval came after the model was shown them as interrupted. */
  readonly late?: readonly string[] | undefined;
  /**
   * Set for a provider's compaction that came in one list with what belongs beside it (`set`): the first `seq` of that
   * list. It stands for nothing from there on.
   */
  readonly since?: number | undefined;
  /** The `seq` of the message that it follows, where that is not the one before: it begins a branch. */
  readonly parent?: number | undefined;
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
  /** What it sets for all that follows. Neither the user nor the model sets anything. */
  readonly sets: readonly string[];
  /** 0 without a counter. */
  readonly tokens: number;
  /** That of a message which makes or answers calls. */
  readonly format: MessageFormat<M> | undefined;
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
  /** As it was added, where its results were found to answer calls by another id than they bear. */
  readonly given?: ItemFacts<M> | undefined;
}

/** Decides how items are read; the same for all items of a memory. */
export interface ItemReader<M> {
  readonly format: MessageFormat<M>;
  readonly counter?: TokenCounter | undefined;
  readonly pinned?: ((message: M) => boolean) | undefined;
}

/** The members of an item that do not come from the format. */
type StoredParts<M> = Omit<Item<M>, keyof ItemFacts<M> | "given">;

export function itemOf<M>(stored: StoredParts<M>, facts: ItemFacts<M>): Item<M> {
  // Listed one by one: this runs for every message, and a spread of so many members would cost more than the rest.
  return {
    message: facts.message,
    error: facts.error,
    role: facts.role,
    calls: facts.calls,
    results: facts.results,
    approvals: facts.approvals,
    boundary: facts.boundary,
    part: facts.part,
    inPlace: facts.inPlace,
    pinned: facts.pinned,
    sets: facts.sets,
    tokens: facts.tokens,
    format: facts.format,
    id: stored.id,
    seq: stored.seq,
    createdAt: stored.createdAt,
    payload: stored.payload,
    meta: stored.meta,
    metaText: stored.metaText,
  };
}

/** What tells items from others, also in another list, where they may have another form. */
export function seqsOf<M>(items: readonly Pick<Item<M>, "seq">[]): ReadonlySet<number> {
  return new Set(items.map(({ seq }) => seq));
}

/** The messages of a list as items; an item's `seq` is its message's index, from `first` on. */
export function itemsOf<M>(messages: readonly M[], reader: ItemReader<M>, first = 0): Item<M>[] {
  return messages.map((message, index) => {
    const seq = first + index;
    const stored = { id: String(seq), seq, createdAt: 0, payload: "", meta: {}, metaText: undefined };
    return itemOf(stored, knownFactsOf(message, reader));
  });
}

/** Reads a stored message. A record that cannot be read becomes an item with an `error`, so that it hides no other. */
export function readItem<M>(stored: StoredMessage, reader: ItemReader<M>): Item<M> {
  const { id, seq, createdAt, payload, meta: metaText } = stored;
  const partsWith = (meta: ItemMeta): StoredParts<M> => ({ id, seq, createdAt, payload, meta, metaText });
  try {
    const meta = parseMeta(metaText);
    return itemOf(partsWith(meta), factsOf(deepFreeze(decodeStored(payload, reader.format)), reader, meta));
  } catch (error) {
    if (!isTurnkeepError(error, "CORRUPT_RECORD") && !isTurnkeepError(error, "UNSUPPORTED_VERSION"))
      throw error;
    return itemOf(partsWith({}), unreadable<M>(namingRecord(error, id)));
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
    sets: [],
    tokens: 0,
    format: undefined,
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
export function messageOf<M>(item: Pick<Item<M>, "message" | "error">): M {
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

/** The same, with nothing in it where it cannot be read: a damaged record proves nothing. */
export function readableMeta(text: string | undefined): ItemMeta {
  try {
    return parseMeta(text);
  } catch {
    return {};
  }
}

/** JSON text of what is set; `undefined` when nothing is. */
export function metaText(meta: ItemMeta): string | undefined {
  const text = JSON.stringify(meta);
  return text === "{}" ? undefined : text;
}
