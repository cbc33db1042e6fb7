import { type HistoryPage, isTurnkeepError, type MessageFormat, modelMessageFormat } from "@turnkeep/core";
import { uiMessageFormat } from "@turnkeep/formats/ai-sdk";
import { anthropicFormat } from "@turnkeep/formats/anthropic";
import { bedrockFormat } from "@turnkeep/formats/bedrock";
import { geminiFormat } from "@turnkeep/formats/gemini";
import { langchain4jFormat } from "@turnkeep/formats/langchain4j";
import { ollamaFormat } from "@turnkeep/formats/ollama";
import { openaiFormat } from "@turnkeep/formats/openai";
import { openaiResponsesFormat } from "@turnkeep/formats/openai-responses";
import { arrivalsOf } from "../terminal/arrivals.ts";

/** A message as a store has it. */
export type HistoryRecord = HistoryPage["messages"][number];

const formats: readonly MessageFormat<unknown>[] = [
  modelMessageFormat as unknown as MessageFormat<unknown>,
  openaiFormat,
  openaiResponsesFormat,
  anthropicFormat,
  geminiFormat,
  bedrockFormat,
  ollamaFormat,
  uiMessageFormat() as unknown as MessageFormat<unknown>,
  langchain4jFormat,
];

/** What core keeps beside a message, as far as people are told of it. */
export interface RecordMeta {
  /** By the counter's name. */
  readonly tokens: Readonly<Record<string, number>>;
  /** It stands for all messages up to that `seq`. */
  readonly through: number | undefined;
}

/** Other hands may have changed it: what is not as core writes it is passed over. */
export function metaOf({ meta }: Pick<HistoryRecord, "meta">): RecordMeta {
  const { tokens, derived } = jsonOf(meta ?? "{}") as { tokens?: unknown; derived?: { through?: unknown } };
  const counts = Object.entries(tokens ?? {}).filter(([, count]) => typeof count === "number");
  const through = derived?.through;
  return { tokens: Object.fromEntries(counts), through: typeof through === "number" ? through : undefined };
}

/** Who said what, as far as its format is known. */
export function spokenIn(record: HistoryRecord): { readonly who: string; readonly text: string } {
  const { format: name } = envelopeOf(record);
  if (typeof name !== "string") return { who: "?", text: "(no record of a message format)" };
  const format = formats.find((known) => known.name === name);
  if (format === undefined) return { who: "?", text: `(message format ${JSON.stringify(name)})` };
  try {
    const [arrival] = arrivalsOf([format.decode(record.payload)], format);
    return arrival ?? { who: "?", text: "" };
  } catch (error) {
    if (!isTurnkeepError(error)) throw error;
    return { who: "?", text: `(${error.code}: ${error.message})` };
  }
}

/**
 * All of a record as one JSON value. The message is as it is stored: what JSON cannot hold, such as bytes, stands there as
 * core writes it. A payload that is no message's is given as text.
 */
export function jsonRecord(record: HistoryRecord): object {
  const { id, seq, state, createdAt, payload, meta } = record;
  const { format, version, message } = envelopeOf(record);
  const content = message === undefined ? { payload } : { format, version, message };
  return { seq, id, state, createdAt, meta: meta === undefined ? undefined : jsonOf(meta), ...content };
}

function envelopeOf({ payload }: HistoryRecord): {
  readonly format?: unknown;
  readonly version?: unknown;
  readonly message?: unknown;
} {
  return jsonOf(payload);
}

/** Empty for what is no JSON object. */
function jsonOf(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
