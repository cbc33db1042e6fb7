import { type FileHandle, open } from "node:fs/promises";
import { TurnkeepError } from "@turnkeep/core";

/**
 * The lines of a UTF-8 file, without a byte order mark. Only a line feed ends a line: JSON text may hold U+2028, which
 * line readers take for an end.
 */
export async function* linesOf(path: string): AsyncGenerator<string> {
  const file = await openFile(path);
  try {
    const decoder = new TextDecoder("utf-8");
    let rest: string[] = [];
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      const parts = decoder.decode(chunk as Uint8Array, { stream: true }).split("\n");
      for (const part of parts.slice(0, -1)) {
        yield [...rest, part].join("");
        rest = [];
      }
      rest.push(parts.at(-1) ?? "");
    }
    yield [...rest, decoder.decode()].join("");
  } finally {
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (cause) {
    throw unreadable(
      path,
      (cause as NodeJS.ErrnoException).code === "ENOENT" ? "does not exist" : "cannot be read",
      cause,
    );
  }
  // It is read more than once: to count, by both processes, and to compare.
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw unreadable(path, "is no file");
}

function unreadable(path: string, what: string, cause?: unknown): TurnkeepError {
  return new TurnkeepError("INVALID_OPTION", `${path} ${what}. Name a JSON Lines file.`, { cause });
}
