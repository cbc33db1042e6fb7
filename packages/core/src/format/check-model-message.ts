import { isObject } from "../values.ts";
import { hintOfFormat } from "./other-formats.ts";

export const roles: readonly string[] = ["system", "user", "assistant", "tool"];

/** The text members that a part of a known type must have; parts of other types are kept unchecked. */
const textMembers: ReadonlyMap<string, readonly string[]> = new Map([
  ["text", ["text"]],
  ["reasoning", ["text"]],
  ["file", ["mediaType"]],
  ["reasoning-file", ["mediaType"]],
  ["custom", ["kind"]],
  ["tool-call", ["toolCallId", "toolName"]],
  ["tool-result", ["toolCallId", "toolName"]],
  ["tool-approval-request", ["approvalId", "toolCallId"]],
  ["tool-approval-response", ["approvalId"]],
]);

/** The members that hold a part's medium: text, bytes, a URL, or an object that names one. */
const dataMembers: ReadonlyMap<string, string> = new Map([
  ["image", "image"],
  ["file", "data"],
  ["reasoning-file", "data"],
]);

/**
 * Why a value is not a model message, as a sentence with the place and what must be there; `undefined` if it is one. It
 * never quotes the value.
 */
export function modelMessageProblem(message: unknown): string | undefined {
  try {
    return messageProblem(message);
  } catch {
    return "message has a member that throws when it is read.";
  }
}

function messageProblem(message: unknown): string | undefined {
  if (Array.isArray(message))
    return must("message", "one message: give those of an array apart, add(...messages)");
  if (!isObject(message)) return must("message", "an object with role and content");
  const hint = hintOfFormat(message);
  if (hint !== undefined) return hint;
  const { role, content } = message;
  if (typeof role !== "string" || !roles.includes(role))
    return must("message.role", `one of ${roles.join(", ")}`);
  if (typeof content === "string")
    return role === "tool" ? must("message.content", "an array of parts, in a tool message") : undefined;
  if (role === "system") return must("message.content", "a text, in a system message");
  if (!Array.isArray(content)) return must("message.content", "a text or an array of parts");
  return firstProblem(content, "message.content", partProblem);
}

function partProblem(part: unknown, place: string): string | undefined {
  if (!isObject(part) || typeof part.type !== "string") return must(place, "an object with a type");
  const { type } = part;
  for (const name of textMembers.get(type) ?? []) {
    if (typeof part[name] !== "string") return must(`${place}.${name}`, "a text");
  }
  const data = dataMembers.get(type);
  if (data !== undefined && typeof part[data] !== "string" && !isObject(part[data]))
    return must(`${place}.${data}`, "base64 text, bytes, a URL or an object that names one");
  if (type === "tool-approval-response" && typeof part.approved !== "boolean")
    return must(`${place}.approved`, "true or false");
  return type === "tool-result" ? outputProblem(part.output, `${place}.output`) : undefined;
}

function outputProblem(output: unknown, place: string): string | undefined {
  if (!isObject(output) || typeof output.type !== "string")
    return must(place, 'an object such as { type: "text", value } or { type: "json", value }');
  const { type, value } = output;
  if ((type === "text" || type === "error-text") && typeof value !== "string")
    return must(`${place}.value`, "a text");
  if (type !== "content") return undefined;
  if (!Array.isArray(value)) return must(`${place}.value`, "an array of parts");
  return firstProblem(value, `${place}.value`, (part, at) => {
    if (!isObject(part) || typeof part.type !== "string") return must(at, "an object with a type");
    return part.type === "text" && typeof part.text !== "string" ? must(`${at}.text`, "a text") : undefined;
  });
}

function firstProblem(
  values: readonly unknown[],
  place: string,
  problemOf: (value: unknown, place: string) => string | undefined,
): string | undefined {
  for (const [index, value] of values.entries()) {
    const problem = problemOf(value, `${place}[${index}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function must(place: string, expected: string): string {
  return `${place} must be ${expected}.`;
}
