import type { MessageFormat } from "@turnkeep/core";
import type { UIMessage, UIMessageChunk } from "ai";

type Format = MessageFormat<UIMessage>;

/**
 * What tools and the application give may be anything. What the memory would not keep as it is, or a browser cannot be sent,
 * becomes what JSON makes of it, as the model is told it too. A tool whose result JSON cannot hold has failed.
 */
export function plainChunks(format: Format): TransformStream<UIMessageChunk, UIMessageChunk> {
  return new TransformStream({
    transform: (chunk, controller) => controller.enqueue(plainChunk(chunk, format)),
  });
}

function plainChunk(chunk: UIMessageChunk, format: Format): UIMessageChunk {
  try {
    const members = Object.entries(chunk).map(([name, value]) => [name, plainValue(value, format)]);
    return Object.fromEntries(members);
  } catch (error) {
    if (chunk.type !== "tool-output-available") throw error;
    const { toolCallId } = chunk;
    return { type: "tool-output-error", toolCallId, errorText: "The tool returned what cannot be kept." };
  }
}

function plainValue(value: unknown, format: Format): unknown {
  if (typeof value === "string" || value === undefined || isKept(value, format)) return value;
  const plain = asJson(value);
  // Too deep for the memory, it is so still.
  format.encode(holding(plain));
  return plain;
}

/** Whether a value can be sent, and is stored as what it is once the SDK has cloned it. */
function isKept(value: unknown, { encode }: Format): boolean {
  try {
    JSON.stringify(value);
    return encode(holding(structuredClone(value))) === encode(holding(value));
  } catch {
    return false;
  }
}

function holding(data: unknown): UIMessage {
  return { id: "", role: "assistant", parts: [{ type: "data-value", data }] };
}

/** A stored message as a browser and a model can be sent it: where it holds a bigint, as JSON has it. */
export function sendable(message: UIMessage): UIMessage {
  try {
    JSON.stringify(message);
    return message;
  } catch {
    return asJson(message) as UIMessage;
  }
}

/** A value as JSON holds it, a bigint as text, and `null` for nothing. Throws what `JSON.stringify` does. */
function asJson(value: unknown): unknown {
  return JSON.parse(jsonText(value));
}

/** The JSON text of a value, with a bigint as text, and `null` for nothing. Throws what `JSON.stringify` does. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_, member) => (typeof member === "bigint" ? `${member}` : member)) ?? "null";
}
