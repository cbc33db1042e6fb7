import { TurnkeepError } from "@turnkeep/core";
import { callback, type Fields, optional, such, takeOptions } from "@turnkeep/core/store-kit";

/** Which server to ask, and what to send. */
export interface OpenAICompatibleOptions {
  /** The URL before `/chat/completions`: `"https://api.openai.com/v1"`, `"http://localhost:11434/v1"`. */
  readonly baseUrl: string;
  /** The model's name. */
  readonly model: string;
  /** Sent as `Authorization: Bearer …`. No error contains it. */
  readonly apiKey?: string | undefined;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Further members of the request, such as `{ temperature: 0 }`. They override those made here. One that is
   * `undefined` is left out: `{ stream_options: undefined }` for a server that does not know it.
   */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

const fields = {
  baseUrl: checkUrl,
  model: such<string>("the model's name", (model) => typeof model === "string" && model !== ""),
  apiKey: optional(checkKey),
  headers: optional(checkHeaders),
  parameters: optional(
    such<never>(
      "an object of members of the request",
      (value) => typeof value === "object" && value !== null,
    ),
  ),
  fetch: optional(callback),
} satisfies Fields<OpenAICompatibleOptions>;

/** Errors: `INVALID_OPTION`; it never names the key. */
export function checkOptions(name: string, options: OpenAICompatibleOptions): void {
  takeOptions(`${name}'s argument`, fields, options);
}

// Errors show neither a URL, which may hold a password, nor a key; `fetch`'s own errors would show both.
function checkUrl(name: string, value: unknown): void {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password === "") return;
  throw fault(`${name} must be an address that begins with http:// or https://, without user and password.`);
}

function checkKey(name: string, value: unknown): void {
  if (typeof value === "string" && /^[\x21-\x7e]+$/.test(value)) return;
  throw fault(`${name} must be a key without blanks and line ends, or undefined for none.`);
}

function checkHeaders(name: string, value: unknown): void {
  const headers = value as OpenAICompatibleOptions["headers"];
  try {
    new Headers(headers);
  } catch {
    const names = Object.keys(headers ?? {}).join(", ");
    throw fault(`${name} must be names and texts that HTTP allows: ${names}.`);
  }
}

function fault(message: string): TurnkeepError {
  return new TurnkeepError("INVALID_OPTION", message);
}
