import { isObject } from "@turnkeep/core/format-kit";
import type { Losses } from "../conversion/losses.ts";
import { carriedBase64, exactType, topType } from "../conversion/media.ts";
import type { Medium, NeutralMessage, NeutralResult, SourcedPart } from "../conversion/neutral.ts";
import { inputObject, outputText, outputTextAndMedia, type SourcedResult } from "../conversion/outputs.ts";
import type { GeminiContent, GeminiFunctionResponse, GeminiPart } from "./messages.ts";
import { onlyMember } from "./parts.ts";
import { linkedType } from "./to-neutral.ts";

/** See `Conversion.write`. */
export function writeContents(messages: readonly NeutralMessage[], losses: Losses): GeminiContent[] {
  return messages.flatMap(({ role, parts }) => {
    const written = parts.flatMap((sourced) => writePart(sourced, role, losses));
    return written.length === 0 ? [] : [{ role: roleOf[role], parts: written }];
  });
}

const roleOf: Readonly<Record<NeutralMessage["role"], string>> = {
  system: "system",
  user: "user",
  assistant: "model",
  tool: "user",
};

function writePart(sourced: SourcedPart, role: NeutralMessage["role"], losses: Losses): GeminiPart[] {
  const part = dataPart(sourced, role, losses);
  if (part === undefined) {
    losses.part(sourced);
    return [];
  }
  losses.options(sourced, ["google.thoughtSignature"]);
  return [{ ...part, ...signatureOf(sourced) }];
}

function dataPart(
  sourced: SourcedPart,
  role: NeutralMessage["role"],
  losses: Losses,
): GeminiPart | undefined {
  const { part } = sourced;
  switch (part.type) {
    case "text":
      return { text: part.text };
    case "reasoning":
      return { text: part.text, thought: true };
    case "media":
    case "reasoning-media": {
      const media = role === "system" ? undefined : mediaPart(part.medium);
      if (media === undefined) return undefined;
      losses.filename(sourced);
      return part.type === "media" ? media : { ...media, thought: true };
    }
    case "call":
      if (part.providerExecuted === true) return undefined;
      return { functionCall: { id: part.id, name: part.name, args: inputObject(part, sourced, losses) } };
    case "result":
      // A response without the function's name is none.
      return role === "assistant" || !part.name
        ? undefined
        : { functionResponse: responseOf(part, part.name, sourced, losses) };
    default:
      return undefined;
  }
}

function signatureOf({ part }: SourcedPart): { thoughtSignature?: string } {
  const signature = "options" in part ? part.options?.google?.thoughtSignature : undefined;
  return typeof signature === "string" ? { thoughtSignature: signature } : {};
}

function responseOf(
  { id, output }: NeutralResult,
  name: string,
  sourced: SourcedPart,
  losses: Losses,
): GeminiFunctionResponse {
  const { value, failed } = output;
  const said = failed === undefined ? "output" : "error";
  const response = { id, name };
  if (value.type === "json") {
    // What would be read as what stands in it is wrapped.
    const isOwn = failed === undefined && isObject(value.json) && onlyMember(value.json) === undefined;
    return {
      ...response,
      response: isOwn ? (value.json as Record<string, unknown>) : { [said]: value.json },
    };
  }
  if (value.type === "text") {
    return { ...response, response: { [said]: outputText(sourced as SourcedResult, losses) } };
  }
  const { text, media } = outputTextAndMedia(sourced as SourcedResult, mediaPart, losses);
  return {
    ...response,
    response: { [said]: text },
    ...(media.length > 0 ? { parts: media } : {}),
  };
}

/** The API wants the exact type of what a message carries. */
function mediaPart(medium: Medium): Pick<GeminiPart, "inlineData" | "fileData"> | undefined {
  const mimeType = exactType(medium);
  if ("url" in medium) return { fileData: { fileUri: medium.url, ...typeOfLink(medium, mimeType) } };
  if ("reference" in medium) {
    const fileUri = medium.reference.google;
    return fileUri === undefined ? undefined : { fileData: { fileUri, ...typeOfLink(medium, mimeType) } };
  }
  const data = carriedBase64(medium);
  return data === undefined || mimeType === undefined ? undefined : { inlineData: { mimeType, data } };
}

function typeOfLink(medium: Medium, mimeType: string | undefined): { mimeType?: string } {
  if (mimeType !== undefined) return { mimeType };
  if (topType(medium) !== "image" || !("url" in medium)) return {};
  return { mimeType: linkedType(medium.url) };
}
