import { basename } from "node:path";
import { isTurnkeepError } from "@turnkeep/core";
import { isObject } from "@turnkeep/core/format-kit";
import { linesOf } from "./lines.ts";
import { detectKind, formats, type MessageKind } from "./message-kind.ts";

/** One good line. */
export interface Conversation {
  readonly id: string;
  readonly kind: MessageKind;
  readonly messages: readonly unknown[];
}

/** A line that cannot be replayed, and why. */
export interface BadLine {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly problem: string;
}

export type Line =
  | { readonly conversation: Conversation; readonly bad?: undefined }
  | { readonly bad: BadLine; readonly conversation?: undefined };

/** A memory's id has at most 512 bytes, and a run's name stands before the conversation's. */
const maxIdBytes = 400;

/**
 * Reads JSON Lines files, one conversation a line: `{"id", "messages": [...]}`. Reads line by line, so a file may be
 * larger than memory. Blank lines are passed over; a bad one is reported and the next one read.
 */
export async function* readConversations(files: readonly string[]): AsyncGenerator<Line> {
  const seen = new Map<string, string>();
  for (const path of files) {
    const file = basename(path);
    let number = 0;
    for await (const line of linesOf(path)) {
      number += 1;
      if (line?.trim() === "") continue;
      const read = line === undefined ? "it is not UTF-8" : readConversation(line);
      if (typeof read === "string") {
        yield { bad: { file, line: number, problem: read } };
        continue;
      }
      const place = `${file}, line ${number}`;
      const taken = seen.get(read.id);
      if (taken !== undefined) {
        yield { bad: { file, line: number, problem: `its id is taken by ${taken}` } };
        continue;
      }
      seen.set(read.id, place);
      yield { conversation: read };
    }
  }
}

/** The conversation of one line, or what is wrong with it: never its content. */
export function readConversation(text: string): Conversation | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec(String(error))?.[1];
    return position === undefined
      ? "it is not JSON"
      : `it is not JSON (from character ${Number(position) + 1})`;
  }
  if (!isObject(value)) return 'it is not an object {"id", "messages"}';
  const { id, messages } = value;
  if (id === undefined) return 'it has no "id"';
  if (typeof id !== "string") return 'its "id" is not a text';
  if (id === "") return 'its "id" is empty';
  if (!isMemoryId(id)) return `its "id" is longer than ${maxIdBytes} bytes, or no well-formed text`;
  if (!Array.isArray(messages) || messages.length === 0) return 'its "messages" are not a list with messages';
  const wrong = messages.findIndex((message) => !isObject(message));
  if (wrong >= 0) return `message ${wrong + 1} is not an object`;
  const detected = detectKind(messages);
  if ("problem" in detected) return `it ${detected.problem}`;
  const problem = firstProblem(messages, detected.kind);
  return problem ?? { id, kind: detected.kind, messages };
}

/** Asks the format, which is what the memory will ask: what passes here can be stored. */
function firstProblem(messages: readonly unknown[], kind: MessageKind): string | undefined {
  for (const [index, message] of messages.entries()) {
    try {
      formats[kind].encode(message);
    } catch (error) {
      if (!isTurnkeepError(error, "INVALID_MESSAGE")) throw error;
      return `message ${index + 1}: ${error.message}`;
    }
  }
  return undefined;
}

function isMemoryId(id: string): boolean {
  return Buffer.byteLength(id) <= maxIdBytes && !id.includes("\u0000") && Buffer.from(id).toString() === id;
}
