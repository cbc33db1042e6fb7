import type { MessageFormat } from "@turnkeep/core";
import { derived, invalidMessage, type Visit, type Visitor, withMember } from "@turnkeep/core/format-kit";

/** A message as Google's Gen AI SDK has it, the system instruction among the others. */
export interface Content {
  readonly role: "system" | "user" | "model";
  readonly parts: readonly Part[];
}

type Part =
  | { readonly text: string; readonly thought?: boolean }
  | { readonly inlineData: { readonly mimeType: string; readonly data: string } }
  | { readonly functionCall: { readonly id: string; readonly name: string; readonly args: object } }
  | { readonly functionResponse: { readonly id: string; readonly name: string; readonly response: object } };

/** Where the id and the tool's name of a call or a response stand. */
const shape = { ref: ({ id, name }: { id: string; name: string }) => ({ id, name }), id: "id", name: "name" };

function visitPart(part: Part, at: Visitor): Part | undefined {
  if ("functionCall" in part) {
    const call = at.call(part.functionCall, shape);
    at.name(part.functionCall.name);
    return call && withMember(part, "functionCall", at.text(call, "args", "tool-call", "json"));
  }
  if ("functionResponse" in part) {
    const result = at.result(part.functionResponse, shape);
    return result && withMember(part, "functionResponse", at.text(result, "response", "tool-result", "json"));
  }
  if ("inlineData" in part) {
    const { mimeType: mediaType, data } = part.inlineData;
    return at.media(part, "content", (_, of) => ({ type: "media", mediaType, bytes: undefined, data, of }));
  }
  if (part.thought !== true) return at.textPart(part, "text", "content");
  const thought = at.reasoning(part);
  return thought && at.text(thought, "text", "reasoning");
}

const visit: Visit<Content> = (content, at) => at.list(content, "parts", visitPart, undefined);

export const contentFormat: MessageFormat<Content> = derived(visit, {
  name: "my-app/content",
  version: 1,
  role: ({ role, parts }) =>
    parts.some((part) => "functionResponse" in part) ? "tool" : role === "model" ? "assistant" : role,
  interruptedResults: (calls, error) => [
    { role: "user", parts: calls.map((call) => ({ functionResponse: { ...call, response: { error } } })) },
  ],
  textMessage: (role, text) => ({ role: role === "user" ? role : "model", parts: [{ text }] }),
  joined: ({ role, parts }, next) =>
    role === next.role ? { role, parts: [...parts, ...next.parts] } : undefined,
  check(content) {
    if (Array.isArray((content as Partial<Content> | null)?.parts)) return;
    throw invalidMessage("has no parts", "Give a list.");
  },
});
