import { isObject } from "@turnkeep/core/format-kit";
import type { Losses, Source } from "../conversion/losses.ts";
import { MadeUpIds } from "../conversion/made-up-ids.ts";
import { mediumOf, named, typed } from "../conversion/media.ts";
import {
  type Medium,
  type NeutralMessage,
  type NeutralPart,
  type Output,
  type OutputPart,
  type SourcedPart,
  sourced,
  type WithOptions,
} from "../conversion/neutral.ts";
import { jsonText, outputOf } from "../conversion/outputs.ts";
import { answersAndSaid } from "../conversion/said.ts";
import { geminiFormat } from "./format.ts";
import type { GeminiContent } from "./messages.ts";
import {
  type AnyPart,
  besideData,
  dataOf,
  isThought,
  member,
  onlyMember,
  partsOf,
  spellings,
} from "./parts.ts";

/** See `Conversion.read`. What a user says beside responses stands in a message behind them. */
export function readContents(contents: readonly GeminiContent[], losses: Losses): NeutralMessage[] {
  const ids = new MadeUpIds();
  return contents.flatMap((content, index): NeutralMessage[] => {
    const source = { index, losses };
    losses.members(index, "message", content, ["role", "parts"]);
    const role = geminiFormat.role(content);
    ids.enter({ isAnswer: role === "assistant" });
    const parts = partsOf(content).flatMap((part, at) => readPart(part, at, source, ids));
    return role === "system" || role === "assistant" ? [{ role, parts }] : answersAndSaid(parts);
  });
}

function readPart(part: AnyPart, at: number, source: Source, ids: MadeUpIds): SourcedPart[] {
  const { index, losses } = source;
  const [kind, spelt] = dataOf(part) ?? [];
  if (kind === undefined || spelt === undefined) {
    losses.add(index, Object.keys(part).find((name) => !besideData.includes(name)) ?? "part");
    return [];
  }
  const read = readData(part, kind, part[spelt], at, source, ids);
  if (read === undefined) {
    losses.add(index, kind);
    return [];
  }
  losses.members(index, kind, part, [spelt, ...besideData]);
  return [sourced(source, kind, read)];
}

/** `undefined` for what has no place elsewhere: what the API ran itself, and what the model drew while it thought. */
function readData(
  part: AnyPart,
  kind: string,
  data: unknown,
  at: number,
  source: Source,
  ids: MadeUpIds,
): NeutralPart | undefined {
  const options = signatureOf(part);
  switch (kind) {
    case "text":
      return { type: isThought(part) ? "reasoning" : "text", text: data as string, ...options };
    case "inlineData":
    case "fileData": {
      const medium = readMedium(kind, kind, data as AnyPart, source);
      return medium && { type: isThought(part) ? "reasoning-media" : "media", medium, ...options };
    }
    case "functionCall":
      return { ...readCall(data as AnyPart, at, source, ids), ...options };
    case "functionResponse":
      return { ...readResult(data as AnyPart, at, source, ids), ...options };
    default:
      return undefined;
  }
}

function signatureOf(part: AnyPart): WithOptions {
  const thoughtSignature = member(part, "thoughtSignature");
  return typeof thoughtSignature === "string" ? { options: { google: { thoughtSignature } } } : {};
}

function readCall(call: AnyPart, at: number, source: Source, ids: MadeUpIds): NeutralPart {
  source.losses.members(source.index, "functionCall", call, ["id", "name", "args"]);
  const name = call.name as string;
  const id = givenId(call) ?? `call_${source.index}_${at}`;
  if (givenId(call) === undefined) ids.ask(name, id);
  return { type: "call", id, name, input: call.args ?? {} };
}

function readResult(result: AnyPart, at: number, source: Source, ids: MadeUpIds): NeutralPart {
  source.losses.members(source.index, "functionResponse", result, ["id", "name", "response", "parts"]);
  const name = result.name as string;
  const id = givenId(result) ?? ids.take(name) ?? `call_${source.index}_${at}`;
  return { type: "result", id, name, output: readOutput(result, source) };
}

function givenId({ id }: AnyPart): string | undefined {
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** `output` and `error` alone are what the tool said; any other response is a value. */
function readOutput({ response, parts }: AnyPart, source: Source): Output {
  const { value, failed } = readResponse(response ?? {});
  const media = (Array.isArray(parts) ? (parts as AnyPart[]) : []).flatMap((part) =>
    readResultPart(part, source),
  );
  if (media.length === 0) return failed ? { value, failed } : { value };
  const lose = (): void => source.losses.add(source.index, "functionResponse.response");
  const text = value.type === "json" ? jsonText(value.json, lose) : value.type === "text" ? value.text : "";
  const said: OutputPart[] = text === "" ? [] : [{ type: "text", text }];
  return outputOf([...said, ...media], failed);
}

function readResponse(response: unknown): Output {
  const name = onlyMember(response);
  if (name === undefined) return { value: { type: "json", json: response } };
  const said = (response as AnyPart)[name];
  const value: Output["value"] =
    typeof said === "string" ? { type: "text", text: said } : { type: "json", json: said };
  return name === "error" ? { value, failed: "error" } : { value };
}

function readResultPart(part: AnyPart, source: Source): OutputPart[] {
  const [kind, spelt] = dataOf(part) ?? [];
  const medium =
    (kind === "inlineData" || kind === "fileData") && spelt !== undefined
      ? readMedium(`functionResponse.${kind}`, kind, part[spelt] as AnyPart, source)
      : undefined;
  if (medium === undefined || spelt === undefined) {
    source.losses.add(source.index, `functionResponse.${kind ?? "parts"}`);
    return [];
  }
  source.losses.members(source.index, `functionResponse.${kind}`, part, [spelt]);
  return [{ type: "media", medium }];
}

function readMedium(kind: string, of: string, data: unknown, { index, losses }: Source): Medium | undefined {
  if (!isObject(data)) return undefined;
  const mediaType = member(data, "mimeType");
  const type = typeof mediaType === "string" && mediaType !== "" ? mediaType : undefined;
  const medium = of === "inlineData" ? carried(data.data, type) : linked(member(data, "fileUri"), type);
  if (medium === undefined) return undefined;
  const known = of === "inlineData" ? ["data"] : ["fileUri"];
  losses.members(index, kind, data, spellings("mimeType", "displayName", ...known));
  return { ...medium, ...named(member(data, "displayName")) };
}

function carried(data: unknown, mediaType: string | undefined): Medium | undefined {
  return typeof data === "string" ? { base64: data, ...typed(mediaType) } : undefined;
}

function linked(uri: unknown, mediaType: string | undefined): Medium | undefined {
  if (typeof uri !== "string") return undefined;
  // Written where the image's type was not known: see `linkedType`.
  return mediumOf(uri, mediaType === linkedType(uri) ? "image/*" : mediaType);
}

const imageTypes: Readonly<Record<string, string>> = {
  png: "image/png",
  webp: "image/webp",
  heic: "image/heic",
  heif: "image/heif",
};

/** The API wants an image's exact type. As the AI SDK does, one of which no more is known passes for a JPEG. */
export function linkedType(uri: string): string {
  const extension = /\.([a-z]+)(?:[?#].*)?$/i.exec(uri)?.[1] ?? "";
  return imageTypes[extension.toLowerCase()] ?? "image/jpeg";
}
