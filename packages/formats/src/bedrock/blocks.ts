import type { BedrockMessage } from "./messages.ts";

/** A block, or an object in one, as it may come; its members are what the application gave. */
export interface AnyBlock {
  readonly [member: string]: unknown;
}

/** The blocks of a message; none where it has no list. */
export function blocksOf(message: BedrockMessage): readonly AnyBlock[] {
  return (message.content ?? []) as readonly object[] as readonly AnyBlock[];
}

const kinds = [
  "text",
  "json",
  "image",
  "document",
  "video",
  "audio",
  "toolUse",
  "toolResult",
  "guardContent",
  "cachePoint",
  "reasoningContent",
  "citationsContent",
  "searchResult",
] as const;

/** The member that a block holds. */
export type BlockKind = (typeof kinds)[number];

const known: ReadonlySet<string> = new Set(kinds);

/** Which member a block holds; `undefined` for a block of another kind. */
export function kindOfBlock(block: AnyBlock): BlockKind | undefined {
  for (const member of Object.keys(block))
    if (known.has(member) && (block[member] ?? undefined) !== undefined) return member as BlockKind;
  return undefined;
}

export function isResult(block: AnyBlock): boolean {
  return kindOfBlock(block) === "toolResult";
}

/** Whether the API runs a call itself, and answers it in the same message. */
export function isServers(toolUse: AnyBlock): boolean {
  return toolUse.type === "server_tool_use";
}

/** The media type of a format, where it is not the kind with the format behind it. */
const mediaTypes: Readonly<Record<string, string>> = {
  three_gp: "video/3gpp",
  mov: "video/quicktime",
  mkv: "video/x-matroska",
  mpg: "video/mpeg",
  mp3: "audio/mpeg",
  mpga: "audio/mpeg",
  m4a: "audio/mp4",
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  html: "text/html",
  doc: "application/msword",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xls: "application/vnd.ms-excel",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
};

export type MediaKind = "image" | "video" | "audio" | "document";

export function isMediaKind(kind: string | undefined): kind is MediaKind {
  return kind === "image" || kind === "video" || kind === "audio" || kind === "document";
}

/** The media type of a block of that kind in that format. */
export function mediaTypeOf(kind: MediaKind, format: unknown): string | undefined {
  if (typeof format !== "string") return kind === "document" ? undefined : `${kind}/*`;
  return mediaTypes[format] ?? (kind === "document" ? undefined : `${kind}/${format}`);
}

const formats: Readonly<Record<MediaKind, readonly string[]>> = {
  image: ["gif", "jpeg", "png", "webp"],
  video: ["mp4", "mov", "mkv", "webm", "flv", "mpeg", "wmv", "three_gp"],
  audio: ["mp3", "wav", "flac", "aac", "ogg", "opus", "m4a", "mp4", "webm", "pcm"],
  document: ["pdf", "txt", "md", "csv", "html", "doc", "docx", "xls", "xlsx"],
};

/** The kind and the format of a block for that media type; `undefined` for one that the API does not take. */
export function formatOf(mediaType: string): readonly [kind: MediaKind, format: string] | undefined {
  for (const kind of Object.keys(formats) as MediaKind[]) {
    const format = formats[kind].find((each) => mediaTypeOf(kind, each) === mediaType);
    if (format !== undefined) return [kind, format];
  }
  return undefined;
}
