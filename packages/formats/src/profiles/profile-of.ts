import { type ProviderProfile, TurnkeepError } from "@turnkeep/core";
import { checkRules } from "./rule-checks.ts";
import { storedCallIds } from "./rules/call-ids.ts";
import { inOrderOfRepair, type ProviderRule, ruleOf } from "./rules.ts";
import { shape } from "./shape.ts";

/** A provider's profile with the rules that it is made of. */
export interface ProfileRules extends ProviderProfile {
  readonly rules: readonly ProviderRule[];
}

/**
 * A profile of your own, for a provider that has none here or has changed. Errors: `INVALID_OPTION` for a rule that
 * does not exist, occurs twice, or has fields that do not belong to it.
 *
 * @example
 * ```ts
 * import { createChatMemory } from "@turnkeep/core";
 * import { openai, profileOf } from "@turnkeep/formats/profiles";
 *
 * const local = profileOf("local", [
 *   ...openai.rules,
 *   { rule: "first-message", source: "https://example.com/chat-template" },
 * ]);
 * const memory = createChatMemory({ profile: local });
 * ```
 */
export function profileOf(name: string, rules: readonly ProviderRule[]): ProfileRules {
  if (typeof name !== "string" || name === "" || !Array.isArray(rules)) {
    throw new TurnkeepError("INVALID_OPTION", "profileOf takes a profile's name and an array of rules.");
  }
  checkRules(name, rules);
  const inOrder = inOrderOfRepair(rules);
  const first = ruleOf(rules, "first-message");
  return {
    name,
    rules,
    firstMessage: first === undefined || first.which === "calls" ? "any" : "user",
    reasoning: ruleOf(rules, "reasoning")?.kept ?? "any",
    maxMessages: ruleOf(rules, "messages")?.limit,
    shape: (messages, format) => shape(messages, format, name, inOrder),
    storedCallIds: (messages, format, asked) =>
      storedCallIds(messages, format, ruleOf(rules, "call-ids"), asked),
  };
}
