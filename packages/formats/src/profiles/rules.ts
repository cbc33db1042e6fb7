import type { Role } from "@turnkeep/core";

/**
 * One rule of a provider, as data. `source` is where the rule is documented, or a public report of a request that was
 * refused for breaking it.
 */
export type ProviderRule = { readonly source: string } & (
  | {
      /**
       * - `not-empty`: a request holds a message beside the system message.
       * - `results-first`: tool results stand before what the user says beside them.
       * - `results-in-order`: the results of one message's calls are in the order of the calls, if they are in messages
       *   that hold nothing else.
       * - `error-text`: a result that reports a failed tool also says something.
       * - `system-first`: the system message stands first, or apart from the messages.
       * - `answer-after-results`: the model's answer stands between tool results and the user's next message.
       * - `reasoning-alone`: no message of the model consists of reasoning alone, or ends in it.
       * - `answer-files`: no answer of the model holds files that it made.
       * - `document-with-text`: a message with a document also has a text.
       * - `document-names`: no two documents of a request have the same name.
       */
      readonly rule:
        | "not-empty"
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
       * Every call is answered once, directly after the message that makes it; no result stands without its call. With
       * `joins`, the provider takes answers directly after one another for one.
       */
      readonly rule: "tool-results";
      readonly joins?: boolean | undefined;
    }
  | {
      /**
       * No call that another provider ran is sent, and no result without its call: `own` recognises a provider's own
       * calls by their names and ids. With `answered`, they go with their results; a call that the provider has yet to
       * run, because nobody has said anything since, may lack one. With `apart`, a result may stand without its call.
       */
      readonly rule: "provider-calls";
      readonly own?: { readonly name?: RegExp | undefined; readonly id?: RegExp | undefined } | undefined;
      readonly answered?: boolean | undefined;
      readonly apart?: boolean | undefined;
    }
  | {
      /**
       * The last message is the user's, or holds tool results. With `paused`, it may also be an answer that ends in a
       * call which the provider runs itself, or in its result: the provider continues it.
       */
      readonly rule: "last-message";
      readonly paused?: boolean | undefined;
    }
  | {
      /**
       * Neighbours of one of these roles are one message, if the format can join them; with `besideResults`, so are
       * tool results and the user's message after them.
       */
      readonly rule: "same-role";
      readonly roles: readonly Role[];
      readonly besideResults?: boolean | undefined;
    }
  | {
      /**
       * The first message after the system message is the user's. With `calls`, it may also be the model's, but the
       * first message of all makes no call.
       */
      readonly rule: "first-message";
      readonly which?: "calls" | undefined;
    }
  | {
      /**
       * No text is empty or, with `blank`, consists of blanks only. With `signed`, a text that carries a Gemini thought
       * signature may be.
       */
      readonly rule: "empty-text";
      readonly which: "empty" | "blank";
      readonly signed?: boolean | undefined;
    }
  | {
      /** A call's id matches the pattern and, with `unique`, is used once in a request. */
      readonly rule: "call-ids";
      readonly pattern: RegExp;
      readonly unique: boolean;
    }
  | {
      /** The tool name of a call matches the pattern, and so does that of a result, if it has one. */
      readonly rule: "tool-names";
      readonly pattern: RegExp;
    }
  | {
      /** `none`: no reasoning is sent back. `bound`: only what was made when everything before it was as it is now. */
      readonly rule: "reasoning";
      readonly kept: "none" | "bound";
    }
  | {
      /** At most this many: messages in a request; calls, images or documents in a message; UTF-16 units in a text. */
      readonly rule: "messages" | "calls" | "text-length" | "images" | "documents";
      readonly limit: number;
    }
);

/** The name of a rule of {@link ProviderRule}. */
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
