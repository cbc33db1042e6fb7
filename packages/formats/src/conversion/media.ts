import { toBase64 } from "@turnkeep/core/format-kit";
import type { Medium } from "./neutral.ts";

/** A medium behind a URL; one that a `data:` URL holds is taken out of it. `undefined` for what is no URL. */
export function mediumOf(url: string, mediaType?: string): Medium | undefined {
  const data = /^data:([^,]*),(.*)$/is.exec(url);
  if (data !== null) return ofDataUrl(data[1] ?? "", data[2] ?? "", mediaType);
  return URL.canParse(url) ? { url, ...typed(mediaType) } : undefined;
}

function ofDataUrl(head: string, body: string, mediaType: string | undefined): Medium | undefined {
  const own = head.split(";", 1)[0]?.trim().toLowerCase();
  const type = isExact(own) ? own : isExact(mediaType) ? mediaType : own || mediaType || "text/plain";
  try {
    const base64 = /;\s*base64\s*$/i.test(head)
      ? body
      : toBase64(new TextEncoder().encode(decodeURIComponent(body)));
    return { base64, mediaType: type };
  } catch {
    // No text in UTF-8, or no escapes.
    return undefined;
  }
}

function isExact(mediaType: string | undefined): mediaType is string {
  return mediaType !== undefined && /^[^/*]+\/[^/*]+$/.test(mediaType);
}

export function typed(mediaType: string | undefined): { mediaType?: string } {
  return mediaType ? { mediaType } : {};
}

export function named(filename: unknown): { filename?: string } {
  return typeof filename === "string" && filename !== "" ? { filename } : {};
}

/** How base64 text of these formats begins. WebP and WAV differ in their ninth byte alone, and in those behind it. */
const beginnings: readonly (readonly [RegExp, string])[] = [
  [/^iVBORw0KGgo/, "image/png"],
  [/^\/9j\//, "image/jpeg"],
  [/^R0lGOD/, "image/gif"],
  [/^UklGR.{6}XRUJQ/, "image/webp"],
  [/^UklGR.{6}XQVZF/, "audio/wav"],
  [/^JVBERi/, "application/pdf"],
];

/** The exact type, where the message or the medium itself tells it. */
export function exactType(medium: Medium): string | undefined {
  const { mediaType } = medium;
  if (isExact(mediaType)) return mediaType.toLowerCase();
  if (!("base64" in medium)) return "text" in medium ? "text/plain" : undefined;
  return beginnings.find(([beginning]) => beginning.test(medium.base64))?.[1];
}

/** Other names under which types go about, by the one that providers list. */
const registered: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["image/pjpeg", "image/jpeg"],
  ["image/x-png", "image/png"],
  ["audio/mp3", "audio/mpeg"],
  ["audio/x-mp3", "audio/mpeg"],
  ["audio/x-wav", "audio/wav"],
  ["audio/wave", "audio/wav"],
  ["audio/vnd.wave", "audio/wav"],
  ["application/x-pdf", "application/pdf"],
]);

/**
 * {@link exactType} as a provider lists it that takes some types alone: under one name, and without parameters, but for
 * one that says that a text is not in UTF-8.
 */
export function listedType(medium: Medium): string | undefined {
  const type = exactType(medium);
  if (type === undefined || /;\s*charset\s*=\s*"?(?!utf-?8|us-ascii)/.test(type)) return type;
  const [name = type] = type.split(/\s*;/, 1);
  return registered.get(name) ?? name;
}

/** The first half of the type, which is known more often than all of it. */
export function topType(medium: Medium): string | undefined {
  return (exactType(medium) ?? medium.mediaType)?.split("/", 1)[0]?.toLowerCase();
}

/** A file of text; `undefined` where a lone surrogate has no bytes. */
export function textMedium(text: unknown, mediaType = "text/plain"): Medium | undefined {
  return typeof text === "string" && !/\p{Surrogate}/u.test(text) ? { text, mediaType } : undefined;
}

/** Base64 of a medium that the message carries. */
export function carriedBase64(medium: Medium): string | undefined {
  if ("base64" in medium) return medium.base64;
  return "text" in medium ? toBase64(new TextEncoder().encode(medium.text)) : undefined;
}

export function dataUrl(medium: Medium): string | undefined {
  const base64 = carriedBase64(medium);
  return base64 === undefined
    ? undefined
    : `data:${exactType(medium) ?? medium.mediaType ?? ""};base64,${base64}`;
}

/** The text of a plain text that the message carries. */
export function carriedText(medium: Medium): string | undefined {
  if ("text" in medium) return medium.text;
  if (!("base64" in medium) || listedType(medium) !== "text/plain") return undefined;
  try {
    const bytes = Uint8Array.from(atob(medium.base64), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** What a medium is called where the format asks for a name and the message has none. */
export function filenameOf(medium: Medium): string {
  return (
    medium.filename ??
    `file.${
      exactType(medium)
        ?.split("/")[1]
        ?.replace(/[^a-z0-9]/g, "") || "bin"
    }`
  );
}

/** The medium under its name; one that {@link filenameOf} gave is none. */
export function withFilename(medium: Medium | undefined, filename: unknown): Medium | undefined {
  return medium && filename !== filenameOf(medium) ? { ...medium, ...named(filename) } : medium;
}
