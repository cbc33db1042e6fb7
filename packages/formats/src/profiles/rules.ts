import type { Rule, RuleKind } from "./rule.ts";
import { type AnswerAfterResults, answerAfterResults } from "./rules/answer-after-results.ts";
import { type AnswerFiles, answerFiles } from "./rules/answer-files.ts";
import { type CallIds, callIds } from "./rules/call-ids.ts";
import { type CallInput, callInput } from "./rules/call-input.ts";
import { type CallLimit, calls } from "./rules/calls.ts";
import { type CallsApart, callsApart } from "./rules/calls-apart.ts";
import { type DocumentNames, documentNames } from "./rules/document-names.ts";
import { type DocumentWithText, documentWithText } from "./rules/document-with-text.ts";
import { type Documents, documents } from "./rules/documents.ts";
import { type EmptyText, emptyText } from "./rules/empty-text.ts";
import { type ExtraMembers, extraMembers } from "./rules/extra-members.ts";
import { type FirstMessage, firstMessage } from "./rules/first-message.ts";
import { type Images, images } from "./rules/images.ts";
import { type InstructionPlace, instructionPlace } from "./rules/instruction-place.ts";
import { type LastMessage, lastMessage } from "./rules/last-message.ts";
import { type Messages, messages } from "./rules/messages.ts";
import { type NotEmpty, notEmpty } from "./rules/not-empty.ts";
import { type ProviderCalls, providerCalls } from "./rules/provider-calls.ts";
import { type Reasoning, reasoning } from "./rules/reasoning.ts";
import { type ReasoningAlone, reasoningAlone } from "./rules/reasoning-alone.ts";
import { type ResultMedia, resultMedia } from "./rules/result-media.ts";
import { type ResultText, resultText } from "./rules/result-text.ts";
import { type ResultsFirst, resultsFirst } from "./rules/results-first.ts";
import { type ResultsInOrder, resultsInOrder } from "./rules/results-in-order.ts";
import { type SameRole, sameRole } from "./rules/same-role.ts";
import { type SettingsApart, settingsApart } from "./rules/settings-apart.ts";
import { type SystemFirst, systemFirst } from "./rules/system-first.ts";
import { type TextLength, textLength } from "./rules/text-length.ts";
import { type ToolNames, toolNames } from "./rules/tool-names.ts";
import { type ToolResults, toolResults } from "./rules/tool-results.ts";
import { type Unsent, unsent } from "./rules/unsent.ts";

/**
 * One rule of a provider, as data. `source` is where the rule is documented, or a public report of a request that was
 * refused for breaking it.
 */
export type ProviderRule =
  | NotEmpty
  | ToolResults
  | SystemFirst
  | Reasoning
  | ProviderCalls
  | AnswerFiles
  | ResultMedia
  | Unsent
  | ExtraMembers
  | CallInput
  | EmptyText
  | ResultText
  | ReasoningAlone
  | DocumentWithText
  | DocumentNames
  | FirstMessage
  | AnswerAfterResults
  | LastMessage
  | InstructionPlace
  | SettingsApart
  | CallIds
  | ToolNames
  | ResultsInOrder
  | SameRole
  | ResultsFirst
  | CallsApart
  | Messages
  | CallLimit
  | TextLength
  | Images
  | Documents;

/** The name of a rule of {@link ProviderRule}. */
export type RuleName = ProviderRule["rule"];

/** The rule of that name. */
export type RuleNamed<N extends RuleName> = Extract<ProviderRule, { readonly rule: N }>;

/** Every rule by its name, in the order in which a view is repaired. */
export const ruleKinds: { readonly [N in RuleName]: RuleKind<RuleNamed<N>> } = {
  // Core has put calls and results together before the rules come.
  "not-empty": notEmpty,
  "tool-results": toolResults,
  // First and last message and neighbours are those beside the system message.
  "system-first": systemFirst,
  // What goes, goes before anything is added for what stays.
  reasoning,
  "provider-calls": providerCalls,
  "answer-files": answerFiles,
  "result-media": resultMedia,
  unsent,
  "extra-members": extraMembers,
  "call-input": callInput,
  "empty-text": emptyText,
  "result-text": resultText,
  // After them: what they leave of an answer may be its reasoning alone, or end in it.
  "reasoning-alone": reasoningAlone,
  "document-with-text": documentWithText,
  "document-names": documentNames,
  // What is added: each looks at the messages that are left.
  "first-message": firstMessage,
  "answer-after-results": answerAfterResults,
  "last-message": lastMessage,
  // Behind them: a system message stands behind what they add, too.
  "instruction-place": instructionPlace,
  "settings-apart": settingsApart,
  // Before results are sorted and messages joined: there calls are told apart by their ids and names.
  "call-ids": callIds,
  "tool-names": toolNames,
  "results-in-order": resultsInOrder,
  "same-role": sameRole,
  // A joined message may hold what the user says and results.
  "results-first": resultsFirst,
  // After them: results of one answer are in one message, and each goes behind its call.
  "calls-apart": callsApart,
  // Limits hold for what is sent.
  messages,
  calls,
  "text-length": textLength,
  images,
  documents,
};

const ruleNames = Object.keys(ruleKinds) as readonly RuleName[];

export function isRuleName(name: unknown): name is RuleName {
  return ruleNames.includes(name as RuleName);
}

/** What a rule does; nothing for one that a profile which `profileOf` did not make has besides ours. */
export function kindOfRule(rule: ProviderRule): RuleKind<ProviderRule> | undefined {
  return ruleKinds[rule.rule];
}

/** The rules in the order in which a view is repaired; behind them those that repair nothing, as they are given. */
export function inOrderOfRepair(rules: readonly ProviderRule[]): readonly ProviderRule[] {
  const repairs = (rule: ProviderRule): boolean => kindOfRule(rule)?.repair !== undefined;
  const repairing = ruleNames.flatMap((name) => rules.filter((rule) => rule.rule === name && repairs(rule)));
  return [...repairing, ...rules.filter((rule) => !repairs(rule))];
}

/** The rule of that name, where the provider has it. */
export function ruleOf<N extends RuleName>(
  rules: readonly ProviderRule[],
  name: N,
): RuleNamed<N> | undefined {
  return rules.find((rule: Rule): rule is RuleNamed<N> => rule.rule === name);
}
