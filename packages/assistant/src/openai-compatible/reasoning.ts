import type { ProviderOptions } from "@turnkeep/core";

/** The name under which is kept, beside a part, what only its server knows: a thought's signature, say. */
export const provider = "openaiCompatible";

interface WithReasoning {
  readonly tool_calls?: unknown;
  readonly reasoning_content?: unknown;
  readonly reasoning?: unknown;
  readonly reasoning_details?: unknown;
}

/** What the model thought. Some servers give the same text under both names. */
export function reasoningOf(message: object): string {
  const { reasoning_content: content, reasoning } = message as WithReasoning;
  if (typeof content === "string" && content !== "") return content;
  return typeof reasoning === "string" ? reasoning : "";
}

/**
 * What its server wants back of an answer's reasoning, kept beside it: DeepSeek and Kimi refuse a list in which an answer
 * with calls lacks its `reasoning_content`, OpenRouter refuses one without Gemini's `reasoning_details`. Nobody asks for
 * `reasoning`, which Groq refuses for some models.
 */
export function keptReasoning(message: object, server: string): ProviderOptions | undefined {
  const {
    tool_calls: calls,
    reasoning_content: content,
    reasoning_details: details,
  } = message as WithReasoning;
  // Beside calls it must be there even where the model thought nothing.
  const isWanted = typeof content === "string" && (content !== "" || calls !== undefined);
  const kept = {
    ...(isWanted ? { reasoning_content: true } : {}),
    ...(Array.isArray(details) && details.length > 0 ? { reasoning_details: details as never } : {}),
  };
  return Object.keys(kept).length === 0 ? undefined : { [provider]: { server, ...kept } };
}

interface ReasoningPart {
  readonly type: string;
  readonly text?: unknown;
  readonly providerOptions?: { readonly [provider]?: Kept | undefined } | undefined;
}

interface Kept {
  readonly server?: unknown;
  readonly reasoning_content?: unknown;
  readonly reasoning_details?: unknown;
}

/** The members of an assistant's message that go back to the server that gave them; others would refuse them. */
export function returnedReasoning(parts: readonly object[], server: string): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const { type, text, providerOptions } of parts as readonly ReasoningPart[]) {
    const kept = providerOptions?.[provider];
    if (type !== "reasoning" || kept?.server !== server) continue;
    if (kept.reasoning_content === true) members.reasoning_content = text;
    if (kept.reasoning_details !== undefined) members.reasoning_details = kept.reasoning_details;
  }
  return members;
}

/**
 * DeepSeek and Kimi, where they think, refuse an answer with calls that has no reasoning, and take an empty one, also for what
 * another model said: https://github.com/spacedriveapp/spacebot/issues/549, https://github.com/anomalyco/opencode/issues/24722
 */
const wanting = /(?:^|\.)(?:deepseek\.com|moonshot\.(?:ai|cn))(?::\d+)?$/;

/** What an answer with calls must have for this server where nothing is known of what the model thought. */
export function absentReasoning(server: string): { readonly reasoning_content?: string } {
  return wanting.test(server) ? { reasoning_content: "" } : {};
}

interface Detail {
  readonly type?: unknown;
  readonly index?: unknown;
  readonly [member: string]: unknown;
}

/** The member that goes on in a stream, by the type of the detail; what is encrypted comes whole. */
const growing: ReadonlyMap<unknown, string> = new Map([
  ["reasoning.text", "text"],
  ["reasoning.summary", "summary"],
]);

/** Details of a streamed answer as the whole answer would have them: one for each thought, with its signature. */
export function joinedDetails(before: unknown, more: readonly unknown[]): readonly unknown[] {
  const details = Array.isArray(before) ? [...(before as readonly Detail[])] : [];
  for (const detail of more as readonly Detail[]) {
    const last = details.at(-1);
    const member = growing.get(detail.type);
    if (member !== undefined && last?.type === detail.type && last?.index === detail.index) {
      const given = Object.entries(detail).filter(([, value]) => value !== null && value !== undefined);
      const text = `${last?.[member] ?? ""}${detail[member] ?? ""}`;
      details.splice(-1, 1, { ...last, ...Object.fromEntries(given), [member]: text });
    } else details.push(detail);
  }
  return details;
}
