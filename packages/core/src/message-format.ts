/** The part a message plays in a conversation, whatever a provider calls it. */
export type Role = "system" | "user" | "assistant" | "tool";

/** A tool call that an assistant message holds. */
export interface ToolCallRef {
  readonly id: string;
  readonly name: string;
  /** The provider runs the call itself: its result comes from the provider, and no message of ours may answer it. */
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
      /** Size of the decoded medium in bytes, where the message carries it. */
      readonly bytes: number | undefined;
      /** The medium itself, base64 text or bytes, where the message carries it: a counter may read an image's size in it. */
      readonly data?: string | Uint8Array | ArrayBuffer | undefined;
      /** How closely a model looks at an image (`low`, `high`, …), where the message says so. */
      readonly detail?: string | undefined;
      readonly of: "content" | "reasoning" | "tool-result";
    };

/** Which parts a copy of a message leaves out. */
export interface Omission {
  /** Leave out the calls with these ids, and the approval requests for them. */
  readonly toolCalls?: ((id: string) => boolean) | undefined;
  /** Leave out the results that answer calls with these ids. Asked once for each result, in their order. */
  readonly toolResults?: ((id: string) => boolean) | undefined;
  /** Leave out the responses to approval requests with these ids, where one stands apart from its call. */
  readonly approvals?: ((approvalId: string) => boolean) | undefined;
  /**
   * Leave out reasoning, and what binds the message to the reasoning in another one, where an answer is several messages.
   */
  readonly reasoning?: boolean | undefined;
  readonly media?: boolean | undefined;
}

/**
 * All that a memory has to know about a message type. A memory never converts messages; it asks its format.
 * Every method is pure and leaves its arguments as they are.
 */
export interface MessageFormat<M> {
  /** Goes into every stored payload; a memory refuses payloads of another format. */
  readonly name: string;
  /** The version of what `encode` writes, from 1. */
  readonly version: number;
  /**
   * Set where one answer of the model is several messages, as items of OpenAI's Responses API are. An assistant message
   * right behind another one is then a part of the same answer: both are in one step. Default: each is an answer.
   */
  readonly answersInParts?: boolean | undefined;
  role(message: M): Role;
  /** In the order in which they stand. */
  toolCalls(message: M): readonly ToolCallRef[];
  /** In the order in which they stand; an assistant message may hold results of calls that the provider ran itself. */
  toolResults(message: M): readonly ToolResultRef[];
  approvals(message: M): readonly ApprovalRef[];
  hasReasoning(message: M): boolean;
  /** A provider's own compaction item: nothing before the newest one counts. */
  isBoundary(message: M): boolean;
  /** Holds nothing that a provider would see: no text but blanks, no part. */
  isEmpty(message: M): boolean;
  pieces(message: M): readonly Piece[];
  /** A copy without those parts; `undefined` when nothing a provider would see is left; the message itself when nothing changed. */
  without(message: M, omission: Omission): M | undefined;
  /** Messages that answer each of the calls with an error result of that text. */
  interruptedResults(calls: readonly ToolCallRef[], text: string): readonly M[];
  /**
   * Only where a message holds its calls together with their results: a copy in which each of these calls is answered
   * with an error of that text, whatever answered it before. Then it is asked instead of `interruptedResults`.
   */
  interrupted?(message: M, calls: readonly ToolCallRef[], text: string): M;
  /** A message of that role with that text and nothing else. Provider profiles ask for it. */
  textMessage?(role: "user" | "assistant", text: string): M;
  /**
   * A copy in which every id of a tool call, in calls, results and approval requests alike, is what `rename` answers for
   * it; the message itself when nothing changed. Calls that the provider runs itself keep their ids, which are its own,
   * and so do their results and requests. Provider profiles ask for it.
   */
  renameCalls?(message: M, rename: (id: string) => string): M;
  /**
   * A copy in which every name of a tool, in calls and results alike, is what `rename` answers for it; the message itself
   * when nothing changed. Calls that the provider runs itself keep their names, and so do their results. Where a call has
   * no id and its tool's name pairs it with its result, the ids that the format tells of both change with the name.
   * Provider profiles ask for it.
   */
  renameTools?(message: M, rename: (name: string) => string): M;
  /**
   * Two neighbours as one message with the content of both, in their order; `undefined` where the two are no message of
   * one role, or where who sends them joins them himself; also for system messages, boundaries, and where the two
   * disagree in a member of which one message has only one. Provider profiles ask for it.
   */
  joined?(first: M, second: M): M | undefined;
  /**
   * Only where a message of the user's may hold tool results beside what he says: a copy in which they stand first; the
   * message itself if they do. Provider profiles ask for it.
   */
  resultsFirst?(message: M): M;
  /**
   * Only where a result may say that its tool failed: a copy in which each one that says so and nothing else says that
   * text; the message itself if there is none. Provider profiles ask for it.
   */
  withErrorText?(message: M, text: string): M;
  /**
   * Only where files have names that a model is shown: a copy in which the name of each document is what `rename` answers
   * for it; the message itself when nothing changed. Images, audio and videos keep theirs. Provider profiles ask for it.
   */
  renameDocuments?(message: M, rename: (name: string) => string): M;
  /**
   * Only where an answer may hold files that are not the model's, as those of a user who spoke meanwhile, or that `without`
   * does not leave out: a copy without the files that the model made. `undefined` when nothing is left that a provider
   * would see; the message itself if there are none. Provider profiles ask for it.
   */
  withoutAnswerFiles?(message: M): M | undefined;
  /**
   * A copy without its empty texts, or, with `blank`, without those of blanks alone; texts of tool calls and results,
   * and reasoning, stay as they are, and with `keepSigned` so do those that bring a thought signature of Gemini's.
   * `undefined` when nothing is left that a provider would see; the message itself when nothing changed. Provider profiles
   * ask for it.
   */
  withoutEmptyText?(message: M, which: "empty" | "blank", keepSigned?: boolean): M | undefined;
  /**
   * A copy in which every text that `pieces` answers is what `change` answers for it; the message itself when nothing
   * changed. Names are not given to `change`, nor is what only the provider can read: signatures, encrypted content and
   * compactions, which it would refuse if they were changed.
   *
   * A text that is no plain text (JSON, say) is given and taken as JSON text. What is then no JSON becomes a plain text
   * where one may stand. Elsewhere, as in the input of a call, `change` is asked for each text and number in it instead:
   * see `mapJsonText`. Reasoning that a provider signed is refused once its text was changed: leave it out with
   * `without`. Processors ask for it.
   */
  mapText?(message: M, change: (text: string, of: TextPlace) => string): M;
  /** Equality of content: an absent and an undefined member are the same, the order of an object's members does not matter. */
  equals(a: M, b: M): boolean;
  /**
   * The message as JSON text with the format's name and version: well-formed Unicode without U+0000.
   * Throws `INVALID_MESSAGE` for what `decode` could not give back.
   */
  encode(message: M): string;
  /** A fresh message. Throws `CORRUPT_RECORD`, or `UNSUPPORTED_VERSION` for a later version. */
  decode(text: string): M;
}
