import type { ListPage } from "@turnkeep/core";
import { jsonLine } from "../terminal/controls.ts";
import { cutTo, displayWidth } from "../terminal/display-width.ts";
import { some } from "../terminal/figures.ts";
import { styleOf } from "../terminal/style.ts";
import { timeOf } from "../terminal/time.ts";
import type { Inspected } from "./inspect.ts";

const ownerWidth = 24;
const timeWidth = 21;

/** One line a memory, in the store's order. */
export async function listMemories(inspected: Inspected): Promise<void> {
  const { limit, json, write, name, owner } = inspected;
  const style = styleOf(inspected.colour);
  let shown = 0;
  let isCut = false;
  for await (const memories of pagesOf(inspected)) {
    const page = memories.slice(0, (limit ?? Number.POSITIVE_INFINITY) - shown);
    if (shown === 0 && page.length > 0 && !json)
      write(style.dim(`${"owner".padEnd(ownerWidth)}${"last written, UTC".padEnd(timeWidth)}memory\n`));
    for (const memory of page) write(json ? jsonLine(memory) : lineOf(memory, inspected));
    shown += page.length;
    isCut = page.length < memories.length;
    if (isCut) break;
  }
  if (json) return;
  const whose = owner === undefined ? "" : ` of ${cutTo(owner, 60)}`;
  if (shown > 0) write("\n");
  write(`${some(shown, "memory", "memories")}${whose} in ${name}${isCut ? "; there are more: --all" : ""}\n`);
}

type Listed = ListPage["memories"][number];

/** With one memory beyond the limit, if there is one. */
async function* pagesOf({ opened, owner, limit }: Inspected): AsyncGenerator<readonly Listed[]> {
  let cursor: string | undefined;
  do {
    const query = { owner, cursor, limit: Math.min(1_000, (limit ?? 1_000) + 1) };
    const page: ListPage = await opened.listMemories(query);
    yield page.memories;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

function lineOf({ memoryId, owner, updatedAt }: Listed, { columns }: Inspected): string {
  const whose = cutTo(owner ?? "–", ownerWidth - 2);
  const pad = " ".repeat(ownerWidth - displayWidth(whose));
  const id = cutTo(memoryId, Math.max(40, columns - ownerWidth - timeWidth));
  return `${whose}${pad}${timeOf(updatedAt).padEnd(timeWidth)}${id}\n`;
}
