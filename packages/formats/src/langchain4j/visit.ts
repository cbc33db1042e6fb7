import type { Piece } from "@turnkeep/core";
import {
  type CallShape,
  dataUrlFacts,
  type ResultShape,
  type Visit,
  type Visitor,
} from "@turnkeep/core/format-kit";
import { idByName } from "../id-by-name.ts";
import { base64Facts } from "../media.ts";
import { trimmed } from "./java.ts";
import type {
  LangChain4jAiMessage,
  LangChain4jContent,
  LangChain4jCustomMessage,
  LangChain4jMessage,
  LangChain4jSystemMessage,
  LangChain4jToolCall,
  LangChain4jToolResultMessage,
} from "./messages.ts";
import { hasReasoning, mediaKinds, withoutReasoning } from "./parts.ts";
import { pdfType } from "./places.ts";

type Of = "content" | "tool-result";

/** Everything of a message that a model reads: of attributes, only those of a custom message, which has nothing else. */
export const visitMessage: Visit<LangChain4jMessage> = (message, at) => {
  switch (message.type) {
    case "SYSTEM":
      return visitSystem(message, at);
    case "USER":
      if (message.name) at.name(message.name);
      return at.list(message, "contents", visitContent, "content");
    case "AI":
      return visitAnswer(message, at);
    case "TOOL_EXECUTION_RESULT":
      return visitResult(message, at);
    case "CUSTOM":
      return visitCustom(message, at);
  }
};

/** LangChain4j builds no system message without a text. */
function visitSystem(message: LangChain4jSystemMessage, at: Visitor): LangChain4jMessage | undefined {
  const visited = at.textPart(message, "text", "content");
  const isBlanked = visited !== undefined && visited !== message && trimmed(visited.text) === "";
  return isBlanked ? { ...visited, text: "…" } : visited;
}

function visitCustom(message: LangChain4jCustomMessage, at: Visitor): LangChain4jMessage {
  const { attributes = {} } = message;
  return Object.keys(attributes).length === 0 ? message : at.text(message, "attributes", "content", "json");
}

function visitAnswer(message: LangChain4jAiMessage, at: Visitor): LangChain4jMessage {
  const kept = hasReasoning(message) ? (at.reasoning(message) ?? withoutReasoning(message)) : message;
  const thought = kept.thinking ? at.text(kept, "thinking", "reasoning") : kept;
  const said =
    thought.text === undefined ? thought : (at.textPart(thought, "text", "content") ?? withoutText(thought));
  return said.toolExecutionRequests === undefined
    ? said
    : at.list(said, "toolExecutionRequests", visitCall, undefined);
}

function withoutText({ text: _, ...message }: LangChain4jAiMessage): LangChain4jAiMessage {
  return message;
}

/** Paired by its tool's name, as is a result like it: there is no id to rename. */
const callWithoutId: CallShape<LangChain4jToolCall> = {
  ref: ({ id, name = "" }) => ({ id: id || idByName(name), name }),
  name(call, rename) {
    const { name = "" } = call;
    const renamed = rename(name);
    return renamed === name ? call : { ...call, name: renamed };
  },
};

const call: CallShape<LangChain4jToolCall> = { ...callWithoutId, id: "id" };

function visitCall(request: LangChain4jToolCall | null, at: Visitor): LangChain4jToolCall | null | undefined {
  if (request === null) return null;
  const kept = at.call(request, request.id ? call : callWithoutId);
  if (kept === undefined) return undefined;
  if (request.name) at.name(request.name);
  return at.text(kept, "arguments", "tool-call");
}

const resultWithoutId: ResultShape<LangChain4jToolResultMessage> = {
  ref: (message) => ({ id: message.id || idByName(message.toolName ?? ""), name: resultName(message) }),
  idAt: "id",
  name(message, rename) {
    const name = resultName(message);
    const renamed = name === undefined ? undefined : rename(name);
    return renamed === name ? message : { ...message, toolName: renamed };
  },
  isProviders: () => false,
};

const result: ResultShape<LangChain4jToolResultMessage> = { ...resultWithoutId, id: "id" };

/** A result without id and name answers a call without both: the empty name pairs them. */
function resultName({ id, toolName }: LangChain4jToolResultMessage): string | undefined {
  return toolName ?? (id ? undefined : "");
}

function visitResult(message: LangChain4jToolResultMessage, at: Visitor): LangChain4jMessage | undefined {
  const kept = at.result(message, message.id ? result : resultWithoutId);
  if (kept === undefined) return undefined;
  if (message.toolName) at.name(message.toolName);
  const visited = at.list(
    at.told(kept, "contents", message.isError === true),
    "contents",
    visitContent,
    "tool-result",
  );
  // A list must hold something, and a result stays a result.
  return visited.contents.length > 0 ? visited : { ...visited, contents: [{ type: "TEXT", text: "" }] };
}

function visitContent(
  content: LangChain4jContent | null,
  at: Visitor,
  of: Of,
): LangChain4jContent | null | undefined {
  if (content === null) return null;
  if (content.type === "TEXT") return at.textPart(content, "text", of);
  return mediaKinds.has(content.type)
    ? at.media(content, of, mediaPiece)
    : at.unknown<LangChain4jContent>(content, of, (text) => ({ type: "TEXT", text }));
}

/** The members that media of all kinds share. */
interface Medium {
  readonly url?: string | undefined;
  readonly base64Data?: string | undefined;
  readonly binaryData?: string | undefined;
  readonly mimeType?: string | undefined;
}

function mediaPiece(content: LangChain4jContent, of: Of): Piece {
  const [member, anyType] = mediaKinds.get(content.type) as readonly [string, string];
  const medium = ((content as unknown as Record<string, unknown>)[member] ?? {}) as Medium;
  const data = medium.base64Data ?? medium.binaryData;
  const facts = data === undefined ? dataUrlFacts(medium.url ?? "") : base64Facts(data);
  return {
    type: "media",
    bytes: undefined,
    ...facts,
    mediaType: medium.mimeType || (content.type === "PDF" ? pdfType : (facts?.mediaType ?? anyType)),
    of,
  };
}
