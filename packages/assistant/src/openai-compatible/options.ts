import { TurnkeepError } from "@turnkeep/core";
import { checkObject, wrongOption } from "@turnkeep/core/store-kit";

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

const optionNames: readonly (keyof OpenAICompatibleOptions)[] = [
  "baseUrl",
  "model",
  "apiKey",
  "headers",
  "parameters",
  "fetch",
];

/** Errors: `INVALID_OPTION`; it never names the key. */
export function checkOptions(name: string, options: OpenAICompatibleOptions): void {
  checkObject(`${name}'s argument`, options, optionNames);
  const { baseUrl, model, apiKey, headers, parameters, fetch } = options;
  // Errors show neither a URL, which may hold a password, nor a key; `fetch`'s own errors would show both.
  const url = typeof baseUrl === "string" && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username + url.password !== "") {
    throw fault(
      "baseUrl must be an address that begins with http:// or https://, without user and password.",
    );
  }
  if (typeof model !== "string" || model === "") throw wrongOption("model", model, "the model's name");
  if (apiKey !== undefined && !(typeof apiKey === "string" && /^[\x21-\x7e]+$/.test(apiKey))) {
    throw fault("apiKey must be a key without blanks and line ends, or undefined for none.");
  }
  if (parameters !== undefined && (typeof parameters !== "object" || parameters === null)) {
    throw wrongOption("parameters", parameters, "an object of members of the request");
  }
  if (fetch !== undefined && typeof fetch !== "function") throw wrongOption("fetch", fetch, "a function");
  try {
    new Headers(headers);
  } catch {
    throw fault(
      `headers must be names and texts that HTTP allows: ${Object.keys(headers ?? {}).join(", ")}.`,
    );
  }
}

function fault(message: string): TurnkeepError {
  return new TurnkeepError("INVALID_OPTION", message);
}
