import fc from "fast-check";
import type { ModelMessageLike } from "../src/index.ts";
import { modelMessageFormat as format, toolCall, toolResult, user } from "../src/index.ts";

/** What is said next. A model's answer may hold reasoning, text, calls and files; its results come right behind it. */
export interface Saying {
  readonly who: "user" | "model";
  readonly text: number;
  readonly reasoning: boolean;
  readonly media: boolean;
  readonly calls: readonly ("search" | "read" | "write")[];
  readonly approval: boolean;
  readonly compaction: boolean;
}

const saying: fc.Arbitrary<Saying> = fc.record({
  who: fc.constantFrom("user", "model", "model"),
  text: fc.nat(30),
  reasoning: fc.boolean(),
  media: fc.boolean(),
  calls: fc.array(fc.constantFrom("search", "read", "write"), { maxLength: 3 }),
  approval: fc.boolean(),
  compaction: fc.nat(20).map((number) => number === 0),
});

/**
 * A conversation that a provider would take: a system message or none, and every call answered, but for those that the
 * last message may leave open. With `reused` the ids of calls come again in every step.
 */
export const conversation: fc.Arbitrary<ModelMessageLike[]> = fc
  .record({
    system: fc.boolean(),
    reused: fc.boolean(),
    open: fc.boolean(),
    sayings: fc.array(saying, { maxLength: 14 }),
  })
  .map(({ system, reused, open, sayings }) => {
    const messages: object[] = system ? [{ role: "system", content: "You are brief." }] : [];
    for (const [place, next] of sayings.entries()) {
      const id = (call: number): string => (reused ? `call-${call}` : `call-${place}-${call}`);
      messages.push(...messagesOf(next, place, id, open && place === sayings.length - 1));
    }
    return messages.map((message, mark) => ({ ...message, mark })) as unknown as ModelMessageLike[];
  });

function messagesOf(
  { who, text, reasoning, media, calls, approval, compaction }: Saying,
  place: number,
  id: (call: number) => string,
  isOpen: boolean,
): object[] {
  const words = `${place} ${"word ".repeat(text)}`;
  const image = { type: "file", data: "iVBORw0KGgo=", mediaType: "image/png" };
  if (who === "user") {
    const content = media ? [...(text > 5 ? [{ type: "text", text: words }] : []), image] : words;
    return [{ role: "user", content }];
  }
  const parts = [
    ...(compaction ? [compactionPart] : []),
    ...(reasoning ? [{ type: "reasoning", text: `thought ${words}` }] : []),
    ...(text > 5 || calls.length === 0 ? [{ type: "text", text: words }] : []),
    ...calls.map((toolName, call) => ({
      type: "tool-call",
      toolCallId: id(call),
      toolName,
      input: { of: words },
    })),
    ...(approval && calls.length > 0
      ? [{ type: "tool-approval-request", approvalId: `approval-${place}`, toolCallId: id(0) }]
      : []),
  ];
  const answer = { role: "assistant", content: parts };
  if (calls.length === 0 || isOpen) return [answer];
  const results = calls.map((toolName, call) => ({
    type: "tool-result",
    toolCallId: id(call),
    toolName,
    output: media
      ? {
          type: "content",
          value: [
            { type: "text", text: words },
            { ...image, type: "file-data" },
          ],
        }
      : { type: "json", value: { words, key: "sk-12345678" } },
  }));
  const response = { type: "tool-approval-response", approvalId: `approval-${place}`, approved: true };
  return [
    answer,
    ...(approval ? [{ role: "tool", content: [response] }] : []),
    { role: "tool", content: results },
  ];
}

const compactionPart = {
  type: "custom",
  kind: "openai.compaction",
  providerOptions: { openai: { itemId: "cmp_1" } },
};

/** Messages that call for and answer a few ids, several at a time, in any order. */
export const crossed: fc.Arbitrary<ModelMessageLike[]> = fc
  .array(
    fc.record({
      role: fc.constantFrom("assistant", "tool", "tool", "user"),
      ids: fc.uniqueArray(fc.constantFrom("1", "2", "3", "4"), { minLength: 1, maxLength: 3 }),
    }),
    { maxLength: 10 },
  )
  .map((messages) => {
    const called = new Set<string>();
    const answered = new Set<string>();
    return messages.flatMap(({ role, ids }, mark): ModelMessageLike[] => {
      if (role === "user") return [marked(user(`go on ${mark}`), mark)];
      const seen = role === "tool" ? answered : called;
      const fresh = ids.filter((id) => !seen.has(id));
      for (const id of fresh) seen.add(id);
      const each = fresh.map((id) => (role === "tool" ? toolResult(id, "t", "ok") : toolCall(id, "t", {})));
      const content = each.flatMap((message) => message.content as object[]);
      return content.length === 0 ? [] : [marked({ role, content } as unknown as ModelMessageLike, mark)];
    });
  });

function marked(message: ModelMessageLike, mark: number): ModelMessageLike {
  return Object.assign({ ...message }, { mark });
}

export function markOf(message: ModelMessageLike): number {
  return (message as unknown as { readonly mark: number }).mark;
}

/** What is wrong with calls and results: results that nothing called for, and calls that nothing answers. */
export function brokenPairs(messages: readonly ModelMessageLike[]): {
  readonly orphans: readonly string[];
  readonly open: readonly string[];
} {
  const orphans: string[] = [];
  const waiting: string[] = [];
  const requests = new Set<string>();
  for (const message of messages) {
    waiting.push(...format.toolCalls(message).map(({ id }) => id));
    for (const { id } of format.toolResults(message)) {
      const at = waiting.indexOf(id);
      if (at < 0) orphans.push(id);
      else waiting.splice(at, 1);
    }
    for (const { kind, approvalId } of format.approvals(message)) {
      if (kind === "request") requests.add(approvalId);
      else if (!requests.has(approvalId)) orphans.push(approvalId);
    }
  }
  return { orphans, open: waiting };
}
