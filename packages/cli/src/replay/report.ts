import type { ExplainedMessage, WindowUnit } from "@turnkeep/core";
import type { Arrival } from "../terminal/arrivals.ts";
import type { MessageKind } from "./message-kind.ts";

/** What a model would be shown. */
export interface View {
  readonly messages: number;
  /** By o200k_base, the list's own cost included. */
  readonly tokens: number;
  /** Given when the newest step alone does not fit, so that there is no view. */
  readonly overflow?: { readonly needed: number; readonly limit: number } | undefined;
}

export interface TurnReport {
  readonly number: number;
  readonly arrivals: readonly Arrival[];
  /** After the turn. */
  readonly view: View;
  /** Given when, before one of the assistant's messages, the newest step alone did not fit. */
  readonly overflow: View["overflow"];
  readonly left: Departure | undefined;
  readonly systemReplaced: boolean;
  /** Where it was asked for: after the turn. */
  readonly explained: readonly ExplainedLine[];
  readonly history: { readonly kept: number; readonly live: number };
}

/** What became of one message, or of several that follow each other and left memory. */
export interface ExplainedLine {
  readonly state: ExplainedMessage<unknown>["state"];
  readonly by: string | undefined;
  /** From 1; `undefined` for a message that stands in the view alone. */
  readonly messages: readonly [first: number, last: number] | undefined;
  /** Of the view. */
  readonly tokens: number;
  /** As it is shown, or as it was added. */
  readonly arrival: Arrival | undefined;
}

/** What was evicted in a turn, and what was too much. */
export interface Departure {
  readonly messages: number;
  /** The turns that those messages came in with. */
  readonly turns: readonly [first: number, last: number];
  readonly over: { readonly amount: number; readonly of: "tokens" | "messages" };
}

/** Figures of views, summed over a replay. */
export interface ViewFigures {
  readonly views: number;
  readonly largestTokens: number;
  readonly largestMessages: number;
  /** Larger than a limit. Must be 0. */
  readonly overLimit: number;
  /** With a result without its call, or a call before the last that nothing answers. Must be 0. */
  readonly broken: number;
  /** Times when the newest step alone did not fit: `messages()` said so, nothing was lost. */
  readonly overflows: number;
}

export const noViews: ViewFigures = {
  views: 0,
  largestTokens: 0,
  largestMessages: 0,
  overLimit: 0,
  broken: 0,
  overflows: 0,
};

export function addFigures(a: ViewFigures, b: ViewFigures): ViewFigures {
  return {
    views: a.views + b.views,
    largestTokens: Math.max(a.largestTokens, b.largestTokens),
    largestMessages: Math.max(a.largestMessages, b.largestMessages),
    overLimit: a.overLimit + b.overLimit,
    broken: a.broken + b.broken,
    overflows: a.overflows + b.overflows,
  };
}

/** What one process did of a replay. */
export interface PartReport {
  readonly figures: ViewFigures;
  /** Conversations that could not go on, and why. */
  readonly failures: readonly { readonly id: string; readonly problem: string }[];
}

/** What the check at the end found. */
export interface CheckReport {
  readonly conversations: number;
  readonly turns: number;
  /** In the files. */
  readonly messages: number;
  /** System messages equal to the one before: a memory keeps one. */
  readonly repeated: number;
  /** Found in history, once, in their place, with equal content. */
  readonly found: number;
  readonly live: number;
  readonly evicted: number;
  readonly superseded: number;
  /** Conversations with something missing, twice, out of order, changed or unexpected. */
  readonly faults: readonly { readonly id: string; readonly problem: string }[];
}

export interface ConversationSummary {
  readonly id: string;
  readonly kind: MessageKind;
  readonly messages: number;
  readonly turns: number;
  /** The first turn that this process added. */
  readonly resumedAt: number;
}

export interface WindowLimits {
  readonly maxTokens: number | undefined;
  readonly maxMessages: number | undefined;
  readonly unit: WindowUnit;
}
