import type { MemorySnapshot, MessageState } from "@turnkeep/core";
import { jsonLine, oneLine } from "../terminal/controls.ts";
import { cutTo } from "../terminal/display-width.ts";
import { number, some } from "../terminal/figures.ts";
import { type Style, styleOf } from "../terminal/style.ts";
import { timeOf } from "../terminal/time.ts";
import type { Inspected } from "./inspect.ts";
import { type HistoryRecord, jsonRecord, metaOf, spokenIn } from "./record.ts";

const labelWidth = 12;
const stateWidth = 12;
const timeWidth = 21;
const tokensWidth = 9;
const whoWidth = 11;
const pageSize = 1_000;

/** What a memory is, then its messages, oldest first. Answers whether there is one. */
export async function showMemory(inspected: Inspected, memoryId: string): Promise<boolean> {
  const { opened, json, name, write, warn } = inspected;
  const snapshot = await opened.getMessages(memoryId);
  if (snapshot.version === null) {
    warn(`turnkeep: there is no memory ${oneLine(JSON.stringify(memoryId))} in ${name}.\n`);
    return false;
  }
  if (!json) writeHead(inspected, memoryId, snapshot);
  const seqWidth = String(snapshot.nextSeq).length + 2;
  for await (const { records, isCut } of pagesOf(inspected, memoryId, snapshot)) {
    if (isCut && !json) write("earlier messages: --all\n");
    for (const record of records) {
      write(json ? jsonLine(jsonRecord(record)) : lineOf(record, seqWidth, inspected));
    }
  }
  return true;
}

function writeHead(inspected: Inspected, memoryId: string, snapshot: MemorySnapshot): void {
  const { opened, columns, name, write } = inspected;
  const style = styleOf(inspected.colour);
  const { version, owner, messages } = snapshot;
  const live = messages.map((message) => metaOf(message));
  const counters = Object.keys(live[0]?.tokens ?? {}).filter((counter) =>
    live.every(({ tokens }) => Object.hasOwn(tokens, counter)),
  );
  const counts = counters.map((counter) => {
    const sum = live.reduce((total, { tokens }) => total + (tokens[counter] ?? 0), 0);
    return `, ${number(sum)} tokens by ${counter}`;
  });
  const facts = {
    memory: memoryId,
    store: name,
    owner: owner ?? "–",
    version: version as string,
    "in memory": `${some(messages.length, "message")}${counts.join("")}`,
    history: opened.capabilities.history ? "all that was said:" : "none is kept by this store; in memory:",
  };
  for (const [label, text] of Object.entries(facts)) {
    write(`${style.dim(label.padEnd(labelWidth))}${cutTo(text, Math.max(40, columns - labelWidth))}\n`);
  }
  write("\n");
}

/** The newest up to the limit; whether there are older ones. */
async function* pagesOf(
  { opened, limit }: Inspected,
  memoryId: string,
  snapshot: MemorySnapshot,
): AsyncGenerator<{ readonly records: readonly HistoryRecord[]; readonly isCut: boolean }> {
  if (!opened.capabilities.history) {
    const live = snapshot.messages.map((message) => ({ ...message, state: "live" as const }));
    const records = limit === undefined ? live : live.slice(-limit);
    yield { records, isCut: records.length < live.length };
    return;
  }
  if (limit === undefined) {
    for (let after = 0; ; ) {
      const { messages, hasMore } = await opened.getHistory(memoryId, { after, limit: pageSize });
      yield { records: messages, isCut: false };
      const last = messages.at(-1);
      if (!hasMore || last === undefined) return;
      after = last.seq;
    }
  }
  const newest: HistoryRecord[] = [];
  let isCut = true;
  while (isCut && newest.length < limit) {
    const before = newest.at(-1)?.seq;
    const size = Math.min(pageSize, limit - newest.length);
    const query = { before, order: "descending" as const, limit: size };
    const page = await opened.getHistory(memoryId, query);
    newest.push(...page.messages);
    isCut = page.hasMore;
  }
  yield { records: newest.reverse(), isCut };
}

function lineOf(record: HistoryRecord, seqWidth: number, { colour, columns }: Inspected): string {
  const { seq, state, createdAt } = record;
  const { tokens, through } = metaOf(record);
  const { who, text } = spokenIn(record);
  const [count] = Object.values(tokens);
  const place = [
    `${oneLine(String(seq)).padStart(seqWidth - 2)}  `,
    paintOf(styleOf(colour), state)(oneLine(state).padEnd(stateWidth)),
    timeOf(createdAt).padEnd(timeWidth),
    `${(count === undefined ? "" : number(count)).padStart(tokensWidth - 2)}  `,
    who.padEnd(whoWidth),
  ];
  const before = through === undefined ? "" : `(stands for all up to ${through}) `;
  const width = columns - seqWidth - stateWidth - timeWidth - tokensWidth - whoWidth;
  return `${place.join("")}${cutTo(before + text, Math.max(30, width))}\n`;
}

function paintOf(style: Style, state: MessageState): (text: string) => string {
  return { live: style.shown, evicted: style.left, superseded: style.dim }[state] ?? style.bad;
}
