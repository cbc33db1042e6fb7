import type { Role } from "@turnkeep/core";
import { isObject, type ResultShape, type Visit, type Visitor, withMember } from "@turnkeep/core/format-kit";
import { type Place, visitBlock } from "./blocks.ts";
import { functionCallId, visitCalls, visitFunctionCall } from "./calls.ts";
import type { Data, MessageDict } from "./dict.ts";

const roles: Readonly<Record<string, Role>> = {
  ai: "assistant",
  assistant: "assistant",
  developer: "system",
  function: "tool",
  human: "user",
  system: "system",
  tool: "tool",
};

/** A `ChatMessage` says itself who speaks; whoever is none of the known ones is no model. */
export function roleOf({ type, data: { role = "human" } }: MessageDict): Role {
  if (type !== "generic") return roles[type] as Role;
  const said = roles[role] ?? "user";
  return said === "tool" ? "user" : said;
}

/** Everything of a message that a model reads. Ids and metadata are not shown to it. */
export const visitDict: Visit<MessageDict> = (dict, at) => {
  const { data, type } = dict;
  if (typeof data.name === "string" && type === "human") at.name(data.name);
  const visited = visitData(data, at, type);
  return visited && withMember(dict, "data", visited);
};

function visitData(data: Data, at: Visitor, type: string): Data | undefined {
  if (type === "tool") return visitResult(data, at, toolResult);
  if (type === "function") return visitResult(data, at, functionResult);
  return type === "ai" ? visitAnswer(data, at) : visitContent(data, at, "content");
}

const toolResult: ResultShape<Data> = {
  ref: ({ tool_call_id: id = "", name }) => (typeof name === "string" ? { id, name } : { id }),
  id: "tool_call_id",
  name: "name",
};

const functionResult: ResultShape<Data> = {
  ref: ({ name = "" }) => ({ id: functionCallId(name), name }),
  name: "name",
};

/** A result stays one, whatever is left of what it holds. */
function visitResult(data: Data, at: Visitor, shape: ResultShape<Data>): Data | undefined {
  const kept = at.result(data, shape);
  return kept && visitContent(at.told(kept, "content", data.status === "error"), at, "tool-result");
}

function visitContent(data: Data, at: Visitor, place: Place): Data {
  if (Array.isArray(data.content)) return at.list(data, "content", visitBlock, place);
  if (place === "tool-result") return at.text(data, "content", place);
  return at.textPart(data, "content", "content") ?? { ...data, content: "" };
}

function visitAnswer(data: Data, at: Visitor): Data {
  const isCalling = (data.tool_calls ?? []).length > 0;
  const said = visitContent(visitThoughts(data, at), at, isCalling ? "calling" : "content");
  const visited = visitFunctionCall(visitInvalidCalls(visitCalls(said, at), at), at);
  return visited === data ? data : withoutRawOutput(visited);
}

/** Where models of other providers than those with blocks of their own put what they thought. */
const thoughtMembers = ["reasoning_content", "reasoning"];

function visitThoughts(data: Data, at: Visitor): Data {
  const given = data.additional_kwargs ?? {};
  const members = thoughtMembers.filter((member) => (given[member] ?? "") !== "");
  if (members.length === 0) return data;
  const kept = at.reasoning(data);
  const now =
    kept === undefined
      ? Object.fromEntries(Object.entries(given).filter(([member]) => !members.includes(member)))
      : members.reduce((copy, member) => at.text(copy, member, "reasoning", "provider"), given);
  return withMember(data, "additional_kwargs", now);
}

/** Calls whose arguments could not be read run no tool; what they hold counts. */
function visitInvalidCalls(data: Data, at: Visitor): Data {
  if ((data.invalid_tool_calls ?? []).length === 0) return data;
  return at.list(data, "invalid_tool_calls", visitInvalidCall, undefined);
}

function visitInvalidCall(call: object, at: Visitor): object {
  return at.text(call, "args", "tool-call");
}

/**
 * Adapters of OpenAI's Responses API send back the items that they were given, if they are there, and not the content.
 * A changed message has none, so that they go by what it says.
 */
function withoutRawOutput(data: Data): Data {
  const { response_metadata: metadata } = data;
  if (!isObject(metadata) || !("output" in metadata)) return data;
  const { output: _, ...rest } = metadata;
  return { ...data, response_metadata: rest };
}
