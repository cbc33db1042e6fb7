import { createChatMemory, type MessageFormat, type ModelMessage, modelMessageFormat } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import * as profiles from "../../src/profiles.ts";

export const byName: Readonly<Record<string, profiles.ProfileRules>> = {
  openai: profiles.openai,
  "openai-responses": profiles.openaiResponses,
  anthropic: profiles.anthropic,
  gemini: profiles.gemini,
  bedrock: profiles.bedrock,
  mistral: profiles.mistral,
  strict: profiles.strict,
};

export const everybody: readonly string[] = Object.keys(byName);

/** A list that breaks a rule. */
export interface RuleCase<M> {
  readonly breaks: string;
  readonly messages: readonly M[];
  /** The index that `validate` names. */
  readonly index: number;
  /** Who refuses it, and by this rule. */
  readonly refusedBy: readonly string[];
  /** What the profile makes of it, without the rules that it has beside this one. Absent: a memory's view has no more of it. */
  readonly becomes?: readonly M[];
  /** Instead: how much there is of what may be less. */
  readonly exceeds?: number;
}

export interface DescribeRuleOptions<M> {
  readonly format: MessageFormat<M>;
  /** Profiles that have the rule, whose refusal no case shows. */
  readonly untold?: readonly string[];
}

/** Tests a rule alone: what each profile's check says of its cases, and what its repair makes of them. */
export function describeRule(
  rule: profiles.RuleName,
  cases: readonly RuleCase<ModelMessage>[],
  options?: Partial<DescribeRuleOptions<ModelMessage>>,
): void;
export function describeRule<M>(
  rule: profiles.RuleName,
  cases: readonly RuleCase<M>[],
  options: DescribeRuleOptions<M>,
): void;
export function describeRule<M>(
  rule: profiles.RuleName,
  cases: readonly RuleCase<M>[],
  options: Partial<DescribeRuleOptions<M>> = {},
): void {
  const format = options.format ?? (modelMessageFormat as unknown as MessageFormat<M>);

  describe.each(cases.map((one) => [`${rule}: ${one.breaks}`, one] as const))("%s", (_, one) => {
    it("is named by validate for those who refuse it, and for no other", () => {
      const refusing = Object.entries(byName).flatMap(([name, profile]) => {
        const violation = profiles
          .validate(one.messages, profile, { format })
          .find((each) => each.rule === rule);
        if (violation === undefined) return [];
        expect(violation).toMatchObject({ index: one.index, problem: expect.stringMatching(/\w/) });
        return [name];
      });
      expect(refusing).toEqual(one.refusedBy);
    });

    it("is refused by strict, if anybody refuses it", () => {
      if (one.refusedBy.length > 0) expect(one.refusedBy).toContain("strict");
    });

    it("becomes what they take, or a clear error", async () => {
      for (const name of one.refusedBy) {
        const alone = profiles.profileOf(
          name,
          byName[name]?.rules.filter((each) => each.rule === rule) ?? [],
        );
        if (one.becomes !== undefined) expectBecomes(one.becomes, one.messages, alone, format, rule);
        else if (one.exceeds !== undefined) expectExceeds(one.exceeds, one.messages, alone, format);
        else await expectRepairedByMemory(one.messages, alone, format);
      }
    });
  });

  it(`${rule}: every profile that has it has a case that its provider refuses`, () => {
    const having = Object.values(byName).filter(({ rules }) => rules.some((each) => each.rule === rule));
    const told = cases.flatMap(({ refusedBy }) => refusedBy);
    for (const { name } of having) expect([...told, ...(options.untold ?? [])]).toContain(name);
  });
}

function expectBecomes<M>(
  expected: readonly M[],
  messages: readonly M[],
  profile: profiles.ProfileRules,
  format: MessageFormat<M>,
  rule: profiles.RuleName,
): void {
  const shaped = profile.shape(messages, format);
  expect(shaped.messages).toEqual(expected);
  expect(shaped.stages.map(({ name }) => name)).toEqual(rule === "not-empty" ? [] : [rule]);
}

function expectExceeds<M>(
  needed: number,
  messages: readonly M[],
  profile: profiles.ProfileRules,
  format: MessageFormat<M>,
): void {
  expect(() => profile.shape(messages, format)).toThrow(
    expect.objectContaining({
      code: "WINDOW_OVERFLOW",
      message: expect.stringContaining(profile.name),
      details: { limit: expect.any(Number), needed },
    }),
  );
}

async function expectRepairedByMemory<M>(
  messages: readonly M[],
  profile: profiles.ProfileRules,
  format: MessageFormat<M>,
): Promise<void> {
  const memory = createChatMemory<M>({ format, profile });
  await memory.add(...(messages as never[]));
  const view = await memory.messages();
  expect(view).toContainEqual(messages[0]);
  expect(profiles.validate(view, profile, { format })).toEqual([]);
}
