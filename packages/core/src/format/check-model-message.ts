import { TurnkeepError } from "../errors.ts";

const roles = ["system", "user", "assistant", "tool"];

/** The text members that a part of a known type must have; parts of other types are kept unchecked. */
const textMembers: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  reasoning: ["text"],
  file: ["mediaType"],
  "reasoning-file": ["mediaType"],
  custom: ["kind"],
  "tool-call": ["toolCallId", "toolName"],
  "tool-result": ["toolCallId", "toolName"],
  "tool-approval-request": ["approvalId", "toolCallId"],
  "tool-approval-response": ["approvalId"],
};

/** Throws `INVALID_MESSAGE`, naming the place and what it must be, unless the value has the shape of a model message. */
export function checkModelMessage(message: unknown): void {
  if (typeof message !== "object" || message === null)
    throw invalid("message", "an object with role and content");
  const { role, content } = message as { role?: unknown; content?: unknown };
  if (typeof role !== "string" || !roles.includes(role))
    throw invalid("message.role", `one of ${roles.join(", ")}`);
  if (typeof content === "string") {
    if (role === "tool") throw invalid("message.content", "an array of parts, in a tool message");
    return;
  }
  if (role === "system") throw invalid("message.content", "a text, in a system message");
  if (!Array.isArray(content)) throw invalid("message.content", "a text or an array of parts");
  for (const [index, part] of content.entries()) checkPart(part, `message.content[${index}]`);
}

function checkPart(part: unknown, place: string): void {
  const { type } = (part ?? {}) as { type?: unknown };
  if (typeof part !== "object" || typeof type !== "string") throw invalid(place, "an object with a type");
  const members = Object.hasOwn(textMembers, type) ? (textMembers[type] ?? []) : [];
  for (const name of members) {
    if (typeof (part as Record<string, unknown>)[name] !== "string")
      throw invalid(`${place}.${name}`, "a text");
  }
  if (type === "tool-result") checkOutput((part as { output?: unknown }).output, `${place}.output`);
}

function checkOutput(output: unknown, place: string): void {
  const { type } = (output ?? {}) as { type?: unknown };
  if (typeof output !== "object" || typeof type !== "string") {
    throw invalid(place, 'an object such as { type: "text", value } or { type: "json", value }');
  }
}

function invalid(place: string, expected: string): TurnkeepError {
  return new TurnkeepError("INVALID_MESSAGE", `${place} must be ${expected}.`);
}
