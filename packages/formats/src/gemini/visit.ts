import type { Piece } from "@turnkeep/core";
import {
  asText,
  base64Bytes,
  type CallShape,
  isObject,
  type ResultShape,
  type Visit,
  type Visitor,
  type VisitPart,
  withMember,
} from "@turnkeep/core/format-kit";
import { idByName } from "../id-by-name.ts";
import { visitUnknownPart } from "../unknown-part.ts";
import type { GeminiContent } from "./messages.ts";
import {
  type AnyPart,
  besideData,
  type DataMember,
  dataOf,
  isSigned,
  isThought,
  member,
  onlyMember,
} from "./parts.ts";

type Of = "content" | "reasoning" | "tool-result";

/** Everything of a content that a model reads. Ids and signatures are not shown to it. */
export const visitContent: Visit<GeminiContent> = (content, at) =>
  content.parts === undefined || content.parts.length === 0
    ? at.unsent(content)
    : at.list(content, "parts", visitPart, undefined);

const visitPart: VisitPart<AnyPart, undefined> = (part, at) => {
  const kept = isThought(part) ? at.reasoning(part) : part;
  if (kept === undefined) return undefined;
  const data = dataOf(part);
  if (data === undefined) return visitUnknownPart(kept, placeOf(part), besideData, at);
  const [kind, spelt] = data;
  return visits[kind](kept, spelt, at);
};

function placeOf(part: AnyPart): "content" | "reasoning" {
  return isThought(part) ? "reasoning" : "content";
}

type VisitData = (part: AnyPart, spelt: string, at: Visitor) => AnyPart | undefined;

const visits: Readonly<Record<DataMember, VisitData>> = {
  text: (part, spelt, at) =>
    isThought(part) ? at.text(part, spelt, "reasoning") : at.textPart(part, spelt, "content", isSigned),
  inlineData: (part, _, at) => at.media(part, placeOf(part), mediaPiece),
  fileData: (part, _, at) => at.media(part, placeOf(part), mediaPiece),
  functionCall: visitCall,
  functionResponse: visitResult,
  executableCode: (part, spelt, at) => visitText(part, spelt, "code", "tool-call", at),
  codeExecutionResult: (part, spelt, at) => visitText(part, spelt, "output", "tool-result", at),
  toolCall: (part, spelt, at) => visitText(part, spelt, "args", "tool-call", at),
  toolResponse: (part, spelt, at) => visitText(part, spelt, "response", "tool-result", at),
};

/** What the API ran itself, and what it found: nothing of ours answers it. */
function visitText(
  part: AnyPart,
  spelt: string,
  name: string,
  of: "tool-call" | "tool-result",
  at: Visitor,
): AnyPart {
  const data = part[spelt] as AnyPart;
  if ((data[name] ?? undefined) === undefined) return at.present(part);
  return withMember(part, spelt, at.text(data, name, of, typeof data[name] === "string" ? "text" : "json"));
}

interface WithName extends AnyPart {
  readonly id?: unknown;
  readonly name: string;
}

/** Paired by the tool's name, as is a response like it: there is no id to rename. */
const withoutId: CallShape<WithName> & ResultShape<WithName> = {
  ref: ({ id, name }) => ({ id: typeof id === "string" && id !== "" ? id : idByName(name), name }),
  idAt: "id",
  name: "name",
  isProviders: () => false,
};

const withId: CallShape<WithName> & ResultShape<WithName> = { ...withoutId, id: "id" };

function shapeOf({ id }: WithName): typeof withId {
  return id ? withId : withoutId;
}

function visitCall(part: AnyPart, spelt: string, at: Visitor): AnyPart | undefined {
  const call = part[spelt] as WithName;
  const kept = at.call(call, shapeOf(call));
  if (kept === undefined) return undefined;
  at.name(call.name);
  const visited = (call.args ?? undefined) === undefined ? kept : at.text(kept, "args", "tool-call", "json");
  return withMember(part, spelt, visited);
}

function visitResult(part: AnyPart, spelt: string, at: Visitor): AnyPart | undefined {
  const result = part[spelt] as WithName;
  const kept = at.result(result, shapeOf(result));
  if (kept === undefined) return undefined;
  at.name(result.name);
  return withMember(part, spelt, visitResultParts(visitResponse(kept, at), at));
}

/** All that a function put out, or why it failed, where the response is nothing else; any other response is a value, and an object. */
function visitResponse<P extends AnyPart>(result: P, at: Visitor): P {
  if ((result.response ?? undefined) === undefined) return result;
  const said = onlyMember(result.response);
  if (said === undefined) {
    const visited = at.text(result, "response", "tool-result");
    const isKept = visited === result || isObject(visited.response);
    return isKept ? visited : { ...visited, response: { output: visited.response } };
  }
  const response = result.response as AnyPart;
  const told = typeof response[said] === "string" ? at.told(response, said, said === "error") : response;
  return withMember(result, "response", at.text(told, said, "tool-result"));
}

function visitResultParts<P extends AnyPart>(result: P, at: Visitor): P {
  if (!Array.isArray(result.parts)) return result;
  const visited = at.list(result, "parts", visitResultPart, undefined);
  if (visited === result || (visited.parts as readonly unknown[]).length > 0) return visited;
  const { parts: _, ...rest } = visited;
  return rest as P;
}

const visitResultPart: VisitPart<AnyPart, undefined> = (part, at) => {
  const kind = dataOf(part)?.[0];
  return kind === "inlineData" || kind === "fileData"
    ? at.media(part, "tool-result", mediaPiece)
    : visitUnknownPart(part, "tool-result", [], at);
};

function mediaPiece(part: AnyPart, of: Of): Piece {
  const [, spelt] = dataOf(part) as readonly [DataMember, string];
  const { data, ...about } = part[spelt] as AnyPart;
  const mediaType = asText(member(about, "mimeType") ?? undefined) || undefined;
  return typeof data === "string"
    ? { type: "media", mediaType, bytes: base64Bytes(data), data, of }
    : { type: "media", mediaType, bytes: undefined, of };
}
