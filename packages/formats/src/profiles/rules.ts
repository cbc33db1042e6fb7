import type { Role } from "@turnkeep/core";

/**
 * One rule of a provider, as data. `source` is where it is written down, or the public report of a request that was
 * refused for breaking it.
 */
export type ProviderRule = { readonly source: string } & (
  | {
      /**
       * - `not-empty`: a request holds a message beside the system message.
       * - `tool-results`: every call is answered once, right behind the message that makes it; no result stands without
       *   its call.
       * - `results-first`: tool results stand before what the user says beside them.
       * - `results-in-order`: the results of one message's calls stand in the order of the calls, where they stand in
       *   messages that hold nothing else.
       * - `error-text`: a result that says that its tool failed says more than that.
       * - `system-first`: the system message stands first, or apart from the messages.
       * - `answer-after-results`: the model's answer stands between tool results and the user's next message.
       * - `reasoning-alone`: no message of the model is reasoning and nothing else, or ends in it.
       * - `answer-files`: no answer of the model holds files that it made.
       * - `document-with-text`: who sends a document sends a text with it.
       * - `document-names`: no two documents of a request have one name.
       */
      readonly rule:
        | "not-empty"
        | "tool-results"
        | "results-first"
        | "results-in-order"
        | "error-text"
        | "system-first"
        | "answer-after-results"
        | "reasoning-alone"
        | "answer-files"
        | "document-with-text"
        | "document-names";
    }
  | {
      /**
       * No call comes back that another provider ran itself, and no result without its call: `own` tells a provider's own
       * calls by their names and ids. With `answered`, they come back with their results; one that the provider still waits to
       * run, because nobody has said anything since, may lack it. With `apart`, a result may stand without its call.
       */
      readonly rule: "provider-calls";
      readonly own?: { readonly name?: RegExp | undefined; readonly id?: RegExp | undefined } | undefined;
      readonly answered?: boolean | undefined;
      readonly apart?: boolean | undefined;
    }
  | {
      /**
       * The last message is the user's, or holds tool results; with `paused`, it may also be an answer that ends in a call
       * which the provider runs itself, or in its result: the provider goes on with that.
       */
      readonly rule: "last-message";
      readonly paused?: boolean | undefined;
    }
  | {
      /**
       * Neighbours of one of these roles are one message, wherever the format can join them; with `besideResults`, tool
       * results and the user's message behind them too.
       */
      readonly rule: "same-role";
      readonly roles: readonly Role[];
      readonly besideResults?: boolean | undefined;
    }
  | {
      /**
       * The first message behind the system message is the user's; with `calls`, it may also be the model's, but the first
       * message of all makes no call.
       */
      readonly rule: "first-message";
      readonly which?: "calls" | undefined;
    }
  | {
      /**
       * No text is empty, or, with `blank`, holds nothing but blanks; with `signed`, one may that brings a thought signature
       * of Gemini's.
       */
      readonly rule: "empty-text";
      readonly which: "empty" | "blank";
      readonly signed?: boolean | undefined;
    }
  | {
      /** A call's id looks so, and, with `unique`, is made once in a request. */
      readonly rule: "call-ids";
      readonly pattern: RegExp;
      readonly unique: boolean;
    }
  | {
      /** The name of a call's tool looks so, and of a result's, where it bears one. */
      readonly rule: "tool-names";
      readonly pattern: RegExp;
    }
  | {
      /** `none`: no reasoning comes back. `bound`: only what was made while all before it was as it is now. */
      readonly rule: "reasoning";
      readonly kept: "none" | "bound";
    }
  | {
      /** At most so many messages in a request; calls in a message; UTF-16 units in a text; images, documents in a message. */
      readonly rule: "messages" | "calls" | "text-length" | "images" | "documents";
      readonly limit: number;
    }
);

export type RuleName = ProviderRule["rule"];

/** The rule of that name. */
export type RuleNamed<N extends RuleName, R = ProviderRule> = R extends { readonly rule: infer X }
  ? N extends X
    ? R & { readonly rule: N }
    : never
  : never;

/** The rule of that name, where the provider has it. */
export function ruleOf<N extends RuleName>(
  rules: readonly ProviderRule[],
  name: N,
): RuleNamed<N> | undefined {
  return rules.find((rule) => rule.rule === name) as RuleNamed<N> | undefined;
}
