import { type FileHandle, open } from "node:fs/promises";
import { TurnkeepError } from "@turnkeep/core";

const lineFeed = 0x0a;

/**
 * The lines of a UTF-8 file, without a byte order mark; `undefined` for one that is no UTF-8. Only a line feed ends a
 * line: JSON text may hold U+2028, which line readers take for an end.
 */
export async function* linesOf(path: string): AsyncGenerator<string | undefined> {
  const file = await openFile(path);
  try {
    let rest: Uint8Array[] = [];
    for await (const chunk of file.createReadStream({ autoClose: false }) as AsyncIterable<Uint8Array>) {
      let from = 0;
      for (let to = chunk.indexOf(lineFeed); to >= 0; to = chunk.indexOf(lineFeed, from)) {
        yield textOf([...rest, chunk.subarray(from, to)]);
        rest = [];
        from = to + 1;
      }
      rest.push(chunk.subarray(from));
    }
    yield textOf(rest);
  } finally {
    await file.close();
  }
}

function textOf(pieces: readonly Uint8Array[]): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(pieces));
  } catch {
    return undefined;
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
