import type { BaseMessage } from "@langchain/core/messages";
import { equalContent, type MessageFormat, type ToolCallRef } from "@turnkeep/core";
import { derived, isObject, joinedMembers, type OwnMembers } from "@turnkeep/core/format-kit";
import { isEcho } from "./format/blocks.ts";
import { isFunctionCallId } from "./format/calls.ts";
import { checkDict } from "./format/check.ts";
import { type Block, type Data, fromDict, type MessageDict, plainDict, toDict } from "./format/dict.ts";
import { roleOf, visitDict } from "./format/visit.ts";

/** What the traversal cannot tell, of a message as plain data. */
const own: OwnMembers<MessageDict> = {
  name: "langchain",
  version: 1,
  role: roleOf,
  interruptedResults,
  textMessage: (role, text) => dictOf(role === "user" ? "human" : "ai", { content: text }),
  joined,
  check: checkDict,
};

/** The same format over plain data, which `langchainFormat` reads its instances as. */
export const dictFormat: MessageFormat<MessageDict> = derived(visitDict, own);

/**
 * LangChain's messages, kept as they are: every kind of `BaseMessage` but `RemoveMessage`, with ids, usage, metadata,
 * artifacts, and content blocks of its version 1 and of providers. Read again, each is an instance of the classes of your
 * own `@langchain/core`. An object of another class in a message, such as a `Document` in an artifact, comes back as the
 * plain data that JSON makes of it.
 *
 * Its `encode` throws `INVALID_MESSAGE` for what is no message of LangChain's, a `RemoveMessage`, a block without a type, a
 * call without an id, and a result without the id of its call.
 *
 * @example
 * ```ts
 * import { HumanMessage } from "@langchain/core/messages";
 * import { createChatMemory } from "@turnkeep/core";
 * import { langchainFormat } from "@turnkeep/langchain";
 *
 * const memory = createChatMemory({ format: langchainFormat, window: { maxMessages: 40, unit: "turn" } });
 * await memory.add(new HumanMessage("Hello"));
 * const messages = await memory.messages(); // BaseMessage[], for model.invoke(messages)
 * ```
 */
export const langchainFormat: MessageFormat<BaseMessage> = derived<BaseMessage>(
  (message, at) => {
    const dict = toDict(message);
    const visited = visitDict(dict, at);
    return visited === dict ? message : visited && fromDict(visited);
  },
  {
    name: own.name,
    version: own.version,
    role: (message) => roleOf(toDict(message)),
    interruptedResults: (calls, text) => interruptedResults(calls, text).map(fromDict),
    textMessage: (role, text) => fromDict(dictOf(role === "user" ? "human" : "ai", { content: text })),
    joined(first, second) {
      const both = joined(toDict(first), toDict(second));
      return both && fromDict(both);
    },
    equals: (a, b) => dictFormat.equals(plainDict(toDict(a)), plainDict(toDict(b))),
    encode: (message) => dictFormat.encode(plainDict(toDict(message))),
    decode: (text) => fromDict(dictFormat.decode(text)),
    check: () => undefined,
  },
);

/** With the members that the class itself would set. */
function dictOf(type: string, data: Data): MessageDict {
  const calls = type === "ai" ? { tool_calls: [], invalid_tool_calls: [] } : {};
  return { type, data: { additional_kwargs: {}, response_metadata: {}, ...calls, ...data } };
}

function interruptedResults(calls: readonly ToolCallRef[], text: string): readonly MessageDict[] {
  return calls.map(({ id, name }) =>
    isFunctionCallId(id)
      ? dictOf("function", { content: text, name })
      : dictOf("tool", { content: text, name, tool_call_id: id, status: "error" }),
  );
}

/** Members that are joined one by one, and those that tell of one message's making, and not of what it says. */
const joinedApart = [
  ...["additional_kwargs", "content", "invalid_tool_calls", "tool_calls"],
  ...["id", "response_metadata", "tool_call_chunks", "usage_metadata"],
];

/** Two answers, unless the first calls tools and the second says something, whose place is before the calls. */
function joined(first: MessageDict, second: MessageDict): MessageDict | undefined {
  const [a, b] = [first.data, second.data];
  if (first.type !== second.type || (first.type !== "human" && first.type !== "ai")) return undefined;
  if (isCalling(a) && !blocksOf(b).every(isEcho)) return undefined;
  const members = joinedMembers(a, b, joinedApart);
  const metadata = equalContent(shapeOf(a), shapeOf(b)) ? shapeOf(a) : undefined;
  const given = joinedMembers(a.additional_kwargs ?? {}, b.additional_kwargs ?? {}, ["tool_calls"]);
  if (members === undefined || metadata === undefined || given === undefined) return undefined;
  return dictOf(first.type, {
    ...members,
    ...(first.type === "ai" ? callsOfBoth(a, b) : {}),
    content: contentOfBoth(a, b),
    additional_kwargs: given,
    response_metadata: metadata,
  });
}

/** By which rules the content is to be read. */
function shapeOf({ response_metadata: metadata = {} }: Data): Record<string, unknown> {
  const members = ["output_version", "model_provider"].filter((member) => metadata[member] !== undefined);
  return Object.fromEntries(members.map((member) => [member, metadata[member]]));
}

function isCalling({ tool_calls: calls = [], additional_kwargs: given }: Data): boolean {
  return calls.length > 0 || isObject(given?.function_call);
}

function callsOfBoth(a: Data, b: Data): Partial<Data> {
  return {
    tool_calls: [...(a.tool_calls ?? []), ...(b.tool_calls ?? [])],
    invalid_tool_calls: [...(a.invalid_tool_calls ?? []), ...(b.invalid_tool_calls ?? [])],
  };
}

function contentOfBoth(a: Data, b: Data): string | readonly Block[] {
  if (a.content.length === 0) return b.content;
  return b.content.length === 0 ? a.content : [...blocksOf(a), ...blocksOf(b)];
}

function blocksOf({ content }: Data): readonly Block[] {
  if (typeof content !== "string") return content;
  return content === "" ? [] : [{ type: "text", text: content }];
}
