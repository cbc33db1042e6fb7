import type { Visitor } from "./format/visitor.ts";

/**
 * The bound for a type parameter that stands for a message of any type. Every type meets it; unlike without a bound,
 * TypeScript keeps the literals of a message that is written where the type is inferred (`role: "user"`, not `string`).
 *
 * @example
 * ```ts
 * import { type AnyMessage, type ChatMemory, createChatMemory, type MessageFormat } from "@turnkeep/core";
 *
 * function shortMemory<M extends AnyMessage>(format: MessageFormat<M>, opening: () => NoInfer<M>): ChatMemory<M> {
 *   return createChatMemory({ format, window: { maxMessages: 10, summarize: opening } });
 * }
 * ```
 */
export type AnyMessage =
  | ""
  | { readonly [member: string]: AnyMessage }
  | NonNullable<unknown>
  | null
  | undefined;

/** The part a message plays in a conversation, whatever a provider calls it. */
export type Role = "system" | "user" | "assistant" | "tool";

/**
 * What a later, different system message does. `one`: it takes the place of the one before, which is superseded.
 * `positioned`: it stays where it was said.
 */
export type SystemMessages = "one" | "positioned";

/** A tool call that an assistant message holds. */
export interface ToolCallRef {
  readonly id: string;
  readonly name: string;
  /** The provider runs the call itself and brings its result; no message of ours may answer it. */
  readonly providerExecuted?: boolean | undefined;
}

/** A tool result that a message holds, by the id of the call it answers. */
export interface ToolResultRef {
  readonly id: string;
  readonly name?: string | undefined;
}

/**
 * Half of an approval: the assistant's request to run a call, or the user's response to it. A request names its
 * call; a response names the request.
 */
export type ApprovalRef =
  | { readonly kind: "request"; readonly approvalId: string; readonly toolCallId: string }
  | { readonly kind: "response"; readonly approvalId: string };

/** Where a text of a message stands. */
export type TextPlace = "content" | "reasoning" | "tool-call" | "tool-result";

/** What bears the id of a call: the call itself, its result, or the request to approve it. */
export type CallPlace = "call" | "result" | "request";

/** What a token counter counts: every text of a message, and every medium with what is known of its size. */
export type Piece =
  | {
      readonly type: "text";
      readonly text: string;
      /** Where the text stands. `name` is a participant's or a tool's name. */
      readonly of: "content" | "reasoning" | "name" | "tool-call" | "tool-result";
    }
  | {
      readonly type: "media";
      readonly mediaType: string | undefined;
      /** Size of the decoded medium in bytes, where the message carries the medium. */
      readonly bytes: number | undefined;
      /** The medium itself, base64 or bytes, where the message carries it: it tells a counter an image's size. */
      readonly data?: string | Uint8Array | ArrayBuffer | undefined;
      /** The level of detail at which a model looks at an image (`low`, `high`, …), where the message gives one. */
      readonly detail?: string | undefined;
      readonly of: "content" | "reasoning" | "tool-result";
    };

/** Which parts a copy of a message leaves out. */
export interface Omission {
  /** Leave out the calls with these ids, and the approval requests for them. */
  readonly toolCalls?: ((id: string) => boolean) | undefined;
  /** Leave out the results that answer calls with these ids. Called once for each result, in their order. */
  readonly toolResults?: ((id: string) => boolean) | undefined;
  /** Leave out the responses to approval requests with these ids, where one stands apart from its call. */
  readonly approvals?: ((approvalId: string) => boolean) | undefined;
  /**
   * Leave out reasoning and, where one answer is several messages, what binds this one to reasoning in another.
   */
  readonly reasoning?: boolean | undefined;
  /** Leave out images, audio and files. */
  readonly media?: boolean | undefined;
}

/**
 * Everything that a memory needs to know about a message type. A memory never converts messages; it asks its format.
 * Every method is pure and leaves its arguments as they are.
 */
export interface MessageFormat<M> {
  /** Part of every stored payload; a memory refuses payloads of another format. */
  readonly name: string;
  /** The version that `encode` writes, from 1. */
  readonly version: number;
  /**
   * Set where one answer is several messages, like the items of OpenAI's Responses API. An assistant message directly
   * after another is then part of the same answer and of the same step. Default: each is an answer.
   */
  readonly answersInParts?: boolean | undefined;
  /** What a memory's option of this name is where nothing else is said. Default `"one"`. */
  readonly systemMessages?: SystemMessages | undefined;
  role(message: M): Role;
  /** In message order. */
  toolCalls(message: M): readonly ToolCallRef[];
  /** In message order. An assistant message may hold results of calls that the provider ran itself. */
  toolResults(message: M): readonly ToolResultRef[];
  approvals(message: M): readonly ApprovalRef[];
  hasReasoning(message: M): boolean;
  /**
   * Whether it is a provider's own compaction item: nothing before the newest one counts, but what was `set` together
   * with it.
   */
  isBoundary(message: M): boolean;
  /** Whether it holds nothing that a provider would see: no text but blanks, no part. */
  isEmpty(message: M): boolean;
  pieces(message: M): readonly Piece[];
  /** A copy without those parts; `undefined` if a provider would see nothing; the message itself if unchanged. */
  without(message: M, omission: Omission): M | undefined;
  /** Messages that answer each of the calls with an error result that has this text. Several calls may share an id. */
  interruptedResults(calls: readonly ToolCallRef[], text: string): readonly M[];
  /**
   * Only for formats where one message holds calls together with their results; then called instead of
   * `interruptedResults`. A copy in which an error with this text answers each of these calls, whatever did before.
   * If more calls of the message have an id than are given, those without a result come first, then the last ones.
   */
  interrupted?(message: M, calls: readonly ToolCallRef[], text: string): M;
  /** A message of this role with this text and nothing else. Used by provider profiles. */
  textMessage?(role: "user" | "assistant", text: string): M;
  /**
   * A copy with every tool-call id, in calls, results and approval requests alike, replaced by what `rename` returns
   * for it; the message itself if nothing changed. Calls that the provider runs itself keep their ids, which are the
   * provider's, and so do their results and requests. Used by provider profiles.
   *
   * `rename` is called once for each of them, in order, with what has the id. Some models give several calls of one answer
   * the same id; then the nth result or request belongs to the nth call. A part that holds a call and its result counts
   * as the call. A format that passes no second argument gives all calls that share an id, and their results, one new id.
   */
  renameCalls?(message: M, rename: (id: string, of?: CallPlace) => string): M;
  /**
   * A copy with every tool name, in calls and results alike, replaced by what `rename` returns for it; the message
   * itself if nothing changed. Calls that the provider runs itself keep their names, and so do their results. Where a
   * call has no id and is paired with its result by tool name, the ids that the format reports for both change with the
   * name. Used by provider profiles.
   */
  renameTools?(message: M, rename: (name: string) => string): M;
  /**
   * Two neighbours joined into one message with the content of both, in order; `undefined` if they are not messages of
   * one role, if the sender joins them itself, for system messages and boundaries, and if the two disagree in a member
   * of which a message can have only one. Used by provider profiles, and for
   * calls of one answer that were added one by one.
   */
  joined?(first: M, second: M): M | undefined;
  /**
   * Only for formats where a user message may hold tool results beside what the user says: a copy with the results
   * first; the message itself if they already are. Used by provider profiles.
   */
  resultsFirst?(message: M): M;
  /**
   * A copy in which each result that says that its tool failed, and nothing else, gets the text `failed`; with `silent`,
   * every other result that says nothing gets that one. Each blank text among the parts of a result becomes `failed`, or else
   * `blank` (by default `silent`), if that is given. Results of calls that the provider ran itself stay; the message itself if
   * nothing changed. Used by provider profiles.
   */
  withResultText?(message: M, failed: string, silent?: string, blank?: string): M;
  /**
   * Only for formats where a model is shown file names: a copy with each document's name replaced by what `rename`
   * returns; the message itself if nothing changed. Images, audio and videos keep theirs. Used by provider profiles.
   */
  renameDocuments?(message: M, rename: (name: string) => string): M;
  /**
   * A copy without the files that the model made. Only for formats where an answer may hold files that are not the
   * model's, such as a user's who spoke meanwhile, or files that `without` does not leave out. `undefined` if nothing
   * is left that a provider would see; the message itself if there are none. Used by provider profiles.
   */
  withoutAnswerFiles?(message: M): M | undefined;
  /**
   * A copy without its empty texts, or, with `blank`, without texts that are only blanks, and without what no provider is
   * sent. Texts of tool calls and results, and reasoning, stay as they are; with `keepSigned`, so do texts that carry a
   * Gemini thought signature.
   * `undefined` if nothing is left that a provider would see; the message itself if nothing changed. Used by provider
   * profiles.
   */
  withoutEmptyText?(message: M, which: "empty" | "blank", keepSigned?: boolean): M | undefined;
  /**
   * A copy in which every text that `pieces` returns is replaced by what `change` returns for it; the message itself if
   * nothing changed. `change` is not called for names, nor for what only the provider can read: signatures, encrypted
   * content and compactions, which the provider would refuse if they were changed.
   *
   * Content that is not plain text (JSON, for example) is passed and taken back as JSON text. If the changed text is
   * not JSON, it becomes plain text where one may stand. Elsewhere, as in the input of a call, `change` is called for
   * each text and number in it instead: see `mapJsonText`. Providers refuse signed reasoning whose text was changed:
   * leave it out with `without`. Used by processors.
   */
  mapText?(message: M, change: (text: string, of: TextPlace) => string): M;
  /**
   * Tells the visitor what a message holds, and puts in place what it returns: for what a rule or a processor of yours
   * has to know or change and no method here does. The message itself if nothing changed; `undefined` if all of it is
   * left out. `derived` of `@turnkeep/core/format-kit` gives it to every format that it makes.
   */
  visit?(message: M, at: Visitor): M | undefined;
  /**
   * What a system message sets for all that follows, beside what it says: a name for each setting, the same for every
   * message that sets it (`"effort"`, a tool). A later message that sets it too takes its place. Default: nothing.
   */
  sets?(message: M): readonly string[];
  /**
   * What these messages, which `sets` something, leave in force, in as few messages as can be and without what they say
   * beside it. A single message that says nothing beside it comes back itself.
   */
  inForce?(messages: readonly M[]): readonly M[];
  /** Equal content: absent and undefined members are the same, and the order of members is ignored. */
  equals(a: M, b: M): boolean;
  /**
   * The message as JSON text with the format's name and version: well-formed Unicode without U+0000. Throws
   * `INVALID_MESSAGE` for anything that `decode` could not restore.
   */
  encode(message: M): string;
  /** A new message object. Throws `CORRUPT_RECORD`, or `UNSUPPORTED_VERSION` for a later version. */
  decode(text: string): M;
}
