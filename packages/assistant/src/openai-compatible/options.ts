import { TurnkeepError } from "@turnkeep/core";
import { checkObject, wrongOption } from "@turnkeep/core/store-kit";

/** Where the server is, and what is asked of it. */
export interface OpenAICompatibleOptions {
  /** What stands before `/chat/completions`: `"https://api.openai.com/v1"`, `"http://localhost:11434/v1"`. */
  readonly baseUrl: string;
  /** The model's name. */
  readonly model: string;
  /** Sent as `Authorization: Bearer …`. No error holds it. */
  readonly apiKey?: string | undefined;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Further members of the request, `{ temperature: 0 }`; they win over those made here, and one that is `undefined` is
   * left out: `{ stream_options: undefined }` for a server that does not know it.
   */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  /** Instead of the global one. */
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
  // Errors show neither an address, which may hold a password, nor a key; and `fetch` would show both in its own.
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
