import { toBase64 } from "@turnkeep/core/format-kit";
import type { Losses, Source } from "../conversion/losses.ts";
import { MadeUpIds } from "../conversion/made-up-ids.ts";
import { type NeutralMessage, type OutputPart, type SourcedPart, sourced } from "../conversion/neutral.ts";
import { outputOf } from "../conversion/outputs.ts";
import type { OllamaMessage } from "./messages.ts";
import { callsOf, imagesOf, thoughtOf } from "./parts.ts";

/** See `Conversion.read`. */
export function readMessages(messages: readonly OllamaMessage[], losses: Losses): NeutralMessage[] {
  const ids = new MadeUpIds();
  return messages.map((message, index) => {
    ids.enter({ isAnswer: message.role === "assistant" });
    const source = { index, losses };
    const known = ["role", "content", "images", ...(members[message.role] ?? [])];
    losses.members(index, "message", message, known);
    if (message.role === "tool") return { role: "tool", parts: [readResult(message, source, ids)] };
    const content = contentOf(message).map((part) =>
      sourced(source, part.type === "text" ? "content" : "images", part),
    );
    if (message.role !== "assistant") return { role: message.role as "system" | "user", parts: content };
    const thought = thoughtOf(message);
    const thoughts =
      thought === "" ? [] : [sourced(source, "thinking", { type: "reasoning", text: thought })];
    return { role: "assistant", parts: [...thoughts, ...content, ...readCalls(message, source, ids)] };
  });
}

const members: Readonly<Record<string, readonly string[]>> = {
  assistant: ["thinking", "tool_calls"],
  tool: ["tool_name", "tool_call_id"],
};

function contentOf(message: OllamaMessage): OutputPart[] {
  const images = imagesOf(message).map((image): OutputPart => {
    const base64 = typeof image === "string" ? image : toBase64(image);
    return { type: "media", medium: { base64, mediaType: "image/*" } };
  });
  const isSaid = message.content !== "" || images.length === 0;
  return [...(isSaid ? [{ type: "text" as const, text: message.content }] : []), ...images];
}

function readCalls(message: OllamaMessage, { index, losses }: Source, ids: MadeUpIds): SourcedPart[] {
  return callsOf(message).map((call, at) => {
    losses.members(index, "tool_calls", call, ["id", "type", "function"]);
    losses.members(index, "tool_calls.function", call.function, ["index", "name", "arguments"]);
    const { name, arguments: input } = call.function;
    const given = typeof call.id === "string" && call.id !== "" ? call.id : undefined;
    const id = given ?? `tool_${index}_${at}`;
    if (given === undefined) ids.ask(name, id);
    return sourced({ index }, "tool_calls", { type: "call", id, name, input: input ?? {} });
  });
}

function readResult(message: OllamaMessage, source: Source, ids: MadeUpIds): SourcedPart {
  const { tool_call_id: given, tool_name: name } = message;
  const id = given || ids.take(name ?? "") || `tool_${source.index}`;
  const output = outputOf(contentOf(message));
  return sourced(source, "tool", { type: "result", id, ...(name ? { name } : {}), output });
}
