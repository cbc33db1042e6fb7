import type { MessageFormat } from "@turnkeep/core";
import { withCallIds } from "@turnkeep/core/processors";
import { type Fields, invalidOption, kindOf, takeOptions } from "@turnkeep/core/store-kit";
import type { ProfileRules } from "./profile-of.ts";
import { kindOfRule, type RuleName } from "./rules.ts";

/** What breaks a rule, and where. */
export interface Violation {
  readonly rule: RuleName;
  /** The index of the message; for an empty list, 0. */
  readonly index: number;
  /** What is wrong there, without the message's content. */
  readonly problem: string;
  /** Where the rule is documented. */
  readonly source: string;
}

type ValidateOptions<M> = {
  /** How to read the messages: `modelMessageFormat` for those of the AI SDK. */
  readonly format: MessageFormat<M>;
};

const fields = { format: checkFormat } satisfies Fields<ValidateOptions<never>>;

function checkFormat(_: string, format: unknown): void {
  if (typeof (format as Partial<MessageFormat<never>> | null | undefined)?.encode === "function") return;
  throw invalidOption("validate needs the messages' format, such as { format: modelMessageFormat }.");
}

/**
 * What a provider would refuse in a list of messages, in the order of the rules; empty for a list that it accepts. The
 * rule `bound`, on how reasoning came about, cannot be checked in a list; only the memory can apply it.
 *
 * Errors: `INVALID_OPTION`; `INVALID_MESSAGE` for what is not a message of the format.
 *
 * @example
 * ```ts
 * import { assistant, modelMessageFormat, user } from "@turnkeep/core";
 * import { anthropic, validate } from "@turnkeep/formats/profiles";
 *
 * const messages = [user("Hello"), assistant("Good morning.")];
 * const [violation] = validate(messages, anthropic, { format: modelMessageFormat });
 * console.log(violation?.rule, violation?.index); // "last-message" 1
 * ```
 */
export function validate<M>(
  messages: readonly M[],
  profile: ProfileRules,
  options: ValidateOptions<M>,
): Violation[] {
  if (!Array.isArray(messages)) {
    throw invalidOption(`validate takes a list of messages, not ${kindOf(messages)}.`);
  }
  if (!Array.isArray(profile?.rules)) {
    throw invalidOption(`validate takes a profile, such as openai, not ${kindOf(profile)}.`);
  }
  const given = options ?? ({} as ValidateOptions<M>);
  const { format } = takeOptions("validate's third argument", fields, given);
  for (const message of messages) format.encode(message);
  const paired = withCallIds(messages, { format });
  return profile.rules.flatMap((rule) =>
    Array.from(kindOfRule(rule)?.breaks(paired, format, rule) ?? [], ([index, problem]) => ({
      rule: rule.rule,
      index,
      problem,
      source: rule.source,
    })),
  );
}
