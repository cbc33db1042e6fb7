import { quoted } from "@turnkeep/core/store-kit";
import { AssistantError } from "../errors.ts";
import type { ModelDelta } from "../model.ts";
import { isContextLengthText } from "./context-length.ts";
import { Gatherer, wireMessage } from "./gather.ts";
import type { OpenAICompatibleOptions } from "./options.ts";
import { retryAfterMs } from "./retry-after.ts";
import { eventData } from "./sse.ts";
import type { WireAnswer, WireMessage, WireUsage } from "./wire.ts";

/** One request of the Chat Completions protocol. */
export interface ChatRequest {
  readonly messages: readonly unknown[];
  readonly tools: readonly unknown[];
  readonly toolChoice: "auto" | "none";
  readonly signal: AbortSignal;
  readonly onDelta?: ((delta: ModelDelta) => void) | undefined;
}

export interface ChatAnswer {
  readonly message: WireMessage;
  readonly usage: WireUsage | undefined;
  readonly model: string | undefined;
  readonly finishReason: string | undefined;
}

/** Reasons of the protocol, one of them Mistral's own, that have other names here. */
const finishReasons: ReadonlyMap<unknown, string> = new Map([
  ["tool_calls", "tool-calls"],
  ["model_length", "length"],
  ["content_filter", "content-filter"],
]);

/**
 * Reasons of answers that are not whole, for which nobody asked: of OpenRouter, Mistral and vLLM `"error"`, of vLLM and SGLang
 * `"abort"` (the server shuts down, say), of DeepSeek that it has too much to do.
 */
const breaks: ReadonlySet<unknown> = new Set(["error", "abort", "insufficient_system_resource"]);

/**
 * Errors: `MODEL_ERROR` with `details.status`, and `details.retryAfterMs` if the server says so, where it answered,
 * `PROMPT_TOO_LONG`; none holds the key.
 */
export async function complete(options: OpenAICompatibleOptions, request: ChatRequest): Promise<ChatAnswer> {
  const response = await post(options, request);
  if (!response.ok) throw refusal(options, response, await response.text().catch(() => ""));
  const isStream = response.headers.get("content-type")?.toLowerCase().includes("text/event-stream") === true;
  try {
    return isStream ? await readStream(options, response, request) : await readWhole(options, response);
  } catch (error) {
    request.signal.throwIfAborted();
    throw error instanceof AssistantError ? error : broken(options, "broke off its answer", error);
  }
}

async function post(options: OpenAICompatibleOptions, request: ChatRequest): Promise<Response> {
  const { apiKey, headers, fetch: send = fetch } = options;
  try {
    return await send(endpointOf(options), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        // By their names in small letters: one that is given is not sent beside the one made here.
        ...Object.fromEntries(new Headers(headers)),
      },
      body: JSON.stringify(bodyOf(options, request)),
      signal: request.signal,
    });
  } catch (error) {
    request.signal.throwIfAborted();
    throw broken(options, "was not reached", error);
  }
}

function bodyOf(
  { model, parameters }: OpenAICompatibleOptions,
  request: ChatRequest,
): Record<string, unknown> {
  const { messages, tools, toolChoice, onDelta } = request;
  return {
    model,
    messages,
    ...(tools.length === 0 ? {} : { tools, ...(toolChoice === "none" ? { tool_choice: "none" } : {}) }),
    ...(onDelta === undefined ? {} : { stream: true, stream_options: { include_usage: true } }),
    ...parameters,
  };
}

async function readWhole(options: OpenAICompatibleOptions, response: Response): Promise<ChatAnswer> {
  const answer = parsed(options, await response.text());
  if (answer.error) throw refusal(options, response, JSON.stringify(answer));
  const { message, finish_reason: reason, error } = answer.choices?.[0] ?? {};
  if (error) throw refusal(options, response, JSON.stringify({ error }));
  if (message === undefined || message === null) throw broken(options, "answered without a message");
  checkWhole(options, reason);
  const { usage, model } = answer;
  return { message: wireMessage(message), usage: usage ?? undefined, model, finishReason: named(reason) };
}

async function readStream(
  options: OpenAICompatibleOptions,
  response: Response,
  { onDelta }: ChatRequest,
): Promise<ChatAnswer> {
  const gatherer = new Gatherer();
  let usage: WireUsage | undefined;
  let model: string | undefined;
  let reason: string | undefined;
  let isComplete = false;
  if (response.body === null) throw broken(options, "answered without a body");
  const isLast = (data: string): boolean => data.trim() === "[DONE]";
  for await (const data of eventData(response.body, isLast)) {
    if (isLast(data)) {
      isComplete = true;
      break;
    }
    const chunk = parsed(options, data);
    if (chunk.error) throw refusal(options, response, data);
    model ??= chunk.model;
    usage = chunk.usage ?? usage;
    const choice = chunk.choices?.[0];
    if (choice?.error) throw refusal(options, response, JSON.stringify({ error: choice.error }));
    if (choice?.delta) gatherer.add(choice.delta, onDelta);
    reason = choice?.finish_reason || reason;
  }
  checkWhole(options, reason);
  if (!isComplete && reason === undefined) throw broken(options, "ended its stream before its answer");
  return { message: gatherer.message(), usage, model, finishReason: named(reason) };
}

function checkWhole(options: OpenAICompatibleOptions, reason: string | null | undefined): void {
  if (breaks.has(reason)) throw broken(options, `broke off its answer (${reason})`);
}

function named(reason: string | null | undefined): string | undefined {
  return finishReasons.get(reason) ?? reason ?? undefined;
}

/** Without the parser's error, which repeats a part of the text: the key may stand there. */
function parsed(options: OpenAICompatibleOptions, text: string): WireAnswer {
  try {
    // Some servers send null now and then.
    return (JSON.parse(text) ?? {}) as WireAnswer;
  } catch {
    throw broken(options, "did not answer with JSON");
  }
}

function broken(options: OpenAICompatibleOptions, what: string, cause?: unknown): AssistantError {
  return new AssistantError("MODEL_ERROR", `The model's server at ${addressOf(options)} ${what}.`, { cause });
}

/**
 * What the server says stands in the cause, without the key, and not at all where the key was refused: then some servers
 * repeat a part of it.
 */
function refusal(options: OpenAICompatibleOptions, response: Response, text: string): AssistantError {
  const { code, type, message } = errorIn(text);
  const { status } = response;
  const wait = retryAfterMs(response.headers);
  const details = wait === undefined ? { status } : { status, retryAfterMs: wait };
  const hint = [code, type].filter((each) => each !== undefined).join(", ");
  const about = hint === "" ? "" : ` (${withoutKey(options, hint)})`;
  const cause =
    status === 401 || status === 403 || message === undefined
      ? undefined
      : new Error(withoutKey(options, message).slice(0, 2000));
  const place = `The model's server at ${addressOf(options)}`;
  if ([code, type, message].some((each) => each !== undefined && isContextLengthText(each))) {
    const what = `${place} says that the messages are too long for ${quoted(options.model)}${about}.`;
    return new AssistantError("PROMPT_TOO_LONG", what, { cause, details });
  }
  return new AssistantError("MODEL_ERROR", `${place} answered with status ${status}${about}.`, {
    cause,
    details,
  });
}

/** `{ error: { code, type, message } }` as OpenAI has it, `{ error: "…" }`, `{ message }` or plain text as others. */
function errorIn(text: string): {
  readonly code?: string | undefined;
  readonly type?: string | undefined;
  readonly message?: string | undefined;
} {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { message: text.trim() === "" ? undefined : text };
  }
  // Google answers a list of one.
  const body = (Array.isArray(value) ? value[0] : value) as Record<string, unknown> | null;
  const error = body?.error ?? body;
  if (typeof error === "string") return { message: error };
  const { code, type, message } = (error ?? {}) as Record<string, unknown>;
  const asText = (member: unknown): string | undefined =>
    typeof member === "string" || typeof member === "number" ? String(member) : undefined;
  return { code: asText(code), type: asText(type), message: asText(message) };
}

/** Of a header that may hold a key also what stands behind `Bearer`; of the address its query, as it is and decoded. */
function withoutKey({ apiKey, headers, baseUrl }: OpenAICompatibleOptions, text: string): string {
  const { search, searchParams } = new URL(baseUrl);
  const secrets = [
    apiKey ?? "",
    ...Object.entries(headers ?? {}).flatMap(([name, value]) =>
      mayHoldKey.test(name) ? [value, ...value.trim().split(/\s+/).slice(1)] : [value],
    ),
    ...search.split(/[?&]/).map((part) => part.slice(part.indexOf("=") + 1)),
    ...searchParams.values(),
  ].filter(({ length }) => length > 3);
  return secrets.reduce((clean, secret) => clean.replaceAll(secret, "…"), text);
}

/** Not the application's title, say, whose words may stand in any error. */
const mayHoldKey = /auth|key|token|secret|cookie|credential/i;

/** The address that `/chat/completions` stands behind may have a query, where some servers want a version or the key. */
function endpointOf({ baseUrl }: OpenAICompatibleOptions): string {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/chat/completions`;
  return url.href;
}

/** Without its query, where some servers want the key. */
function addressOf({ baseUrl }: OpenAICompatibleOptions): string {
  const { origin, pathname } = new URL(baseUrl);
  return origin + pathname.replace(/\/+$/, "");
}
