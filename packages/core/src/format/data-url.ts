import { base64Bytes } from "../base64.ts";
import { utf8Length } from "../stores/text.ts";

/** What a `data:` URL holds. */
export interface DataUrlFacts {
  readonly mediaType: string;
  /** Size of the decoded medium. */
  readonly bytes: number;
  /** The base64 text, where it is that. */
  readonly data?: string;
}

/** What a `data:` URL holds (RFC 2397); `undefined` for any other URL. */
export function dataUrlFacts(url: string): DataUrlFacts | undefined {
  const comma = url.indexOf(",");
  if (comma < 0 || !/^data:/i.test(url)) return undefined;
  const [type, ...parameters] = url.slice("data:".length, comma).split(";");
  const mediaType = type?.trim().toLowerCase() || "text/plain";
  const data = url.slice(comma + 1);
  if (parameters.at(-1)?.trim().toLowerCase() === "base64")
    return { mediaType, bytes: base64Bytes(data), data };
  return { mediaType, bytes: utf8Length(data.replace(/%[0-9a-f]{2}/gi, "_")) };
}
