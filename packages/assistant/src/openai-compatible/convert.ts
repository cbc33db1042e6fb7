import {
  type ModelMessage,
  type ModelMessageLike,
  type ProviderOptions,
  TurnkeepError,
} from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";
import { quoted } from "@turnkeep/core/store-kit";
import { unreadableInput } from "../model-messages.ts";
import { textsOf } from "./content.ts";
import { dataUrl } from "./data-url.ts";
import { absentReasoning, keptReasoning, provider, reasoningOf, returnedReasoning } from "./reasoning.ts";
import { absentContent, type Receiver, sentName } from "./sent-calls.ts";
import type { WireMessage } from "./wire.ts";

interface PartToSend {
  readonly type: string;
  readonly providerOptions?:
    | Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>
    | undefined;
  readonly [member: string]: unknown;
}

/** Messages of the default format as the protocol has them. */
export function toWire(messages: readonly ModelMessageLike[], to: Receiver): Record<string, unknown>[] {
  return messages.flatMap((message): Record<string, unknown>[] => {
    const { role, content } = message;
    if (role === "system") return [{ role, content }];
    const parts: readonly PartToSend[] =
      typeof content === "string"
        ? [{ type: "text", text: content }]
        : (content as readonly unknown[] as readonly PartToSend[]);
    if (role === "user") {
      return [{ role, content: typeof content === "string" ? content : parts.map(userPart) }];
    }
    return role === "assistant" ? [assistantMessage(parts, to)] : parts.flatMap(toolMessage);
  });
}

function userPart(part: PartToSend): Record<string, unknown> {
  if (part.type === "text") return { type: "text", text: part.text };
  const { mediaType, filename } = part as { mediaType?: string; filename?: string };
  const type = mediaType ?? (part.type === "image" ? "image/*" : "");
  const url = dataUrl(part.type === "image" ? part.image : part.data, type);
  if (url === undefined) throw unsupported(part.type, type);
  if (part.type === "image" || /^image(?:\/|$)/.test(type)) return { type: "image_url", image_url: { url } };
  if (!url.startsWith("data:")) throw unsupported("file behind an address", type);
  const audio = { "audio/wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3" }[type];
  if (audio !== undefined) {
    return { type: "input_audio", input_audio: { data: url.slice(url.indexOf(",") + 1), format: audio } };
  }
  return { type: "file", file: { filename: filename ?? "file", file_data: url } };
}

function assistantMessage(
  parts: readonly PartToSend[],
  { server, tools }: Receiver,
): Record<string, unknown> {
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text as string] : [])).join("");
  const calls = parts.flatMap((part) => {
    if (part.type !== "tool-call" || part.providerExecuted === true) return [];
    const { toolCallId: id, toolName: name, input } = part;
    const text = JSON.stringify(input ?? {});
    const { server: from, ...others } = part.providerOptions?.[provider] ?? {};
    return [
      {
        ...(from === server ? others : {}),
        id,
        type: "function",
        function: { name: sentName(name, tools), arguments: text },
      },
    ];
  });
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? absentContent(server) : text,
    ...(calls.length > 0 ? absentReasoning(server) : {}),
    ...returnedReasoning(parts, server),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

function toolMessage(part: PartToSend): Record<string, unknown>[] {
  if (part.type !== "tool-result") return [];
  return [{ role: "tool", tool_call_id: part.toolCallId, content: outputText(part.output as PartToSend) }];
}

function outputText({ type, value, reason }: PartToSend): string {
  if (type === "execution-denied") return typeof reason === "string" ? reason : "The tool call was denied.";
  if (type !== "content") return typeof value === "string" ? value : JSON.stringify(value ?? null);
  return (value as readonly PartToSend[])
    .map((part) => {
      if (part.type === "text") return part.text as string;
      throw unsupported(`tool result of ${part.type}`, "");
    })
    .join("\n");
}

/** An answer as a message of the default format. `server`: who gave it. */
export function fromWire(message: WireMessage, server: string): ModelMessage {
  const { tool_calls: calls = [] } = message;
  const said = textsOf(message.content);
  // A refusal stands in the place of a content.
  const text = said.text || textsOf(message.refusal).text;
  const reasoning = said.reasoning || reasoningOf(message);
  const kept = keptReasoning(message, server);
  if (calls.length === 0 && reasoning === "" && kept === undefined)
    return { role: "assistant", content: text };
  return {
    role: "assistant",
    content: [
      ...(reasoning === "" && kept === undefined
        ? []
        : [{ type: "reasoning" as const, text: reasoning, ...(kept && { providerOptions: kept }) }]),
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
      ...calls.map(({ id, type: _, function: { name, arguments: input }, ...others }) => ({
        type: "tool-call" as const,
        toolCallId: id,
        toolName: name,
        ...inputOf(
          input,
          Object.keys(others).length > 0 ? { [provider]: { server, ...others } as never } : {},
        ),
      })),
    ],
  };
}

function inputOf(
  text: string,
  options: ProviderOptions,
): { input: unknown; providerOptions?: ProviderOptions } {
  const members = Object.keys(options).length > 0 ? { providerOptions: options } : {};
  try {
    const value: unknown = text.trim() === "" ? {} : JSON.parse(text);
    if (isObject(value)) return { input: value, ...members };
  } catch {
    // The same as another value than an object.
  }
  const { input, providerOptions } = unreadableInput(text);
  return { input, providerOptions: { ...options, ...providerOptions } };
}

function unsupported(what: string, mediaType: string): TurnkeepError {
  const of = mediaType === "" ? "" : ` of the type ${quoted(mediaType)}`;
  return new TurnkeepError(
    "UNSUPPORTED",
    `The Chat Completions protocol has no place for a ${what}${of}. Leave it out, or use another model adapter.`,
  );
}
