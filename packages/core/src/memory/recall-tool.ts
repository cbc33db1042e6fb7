import type { ChatMemory } from "../chat-memory.ts";
import { isTurnkeepError } from "../errors.ts";
import type { HistoryMessage } from "../memory-history.ts";
import { callback, integer, such } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import { applyProcessors } from "../processors/apply-processors.ts";
import { resultTexts } from "../view/result-texts.ts";
import { hidingOf } from "./hiding.ts";

/** Options of {@link recallTool}. */
export interface RecallToolOptions {
  /** How long an answer may be, in characters. 500 or more; default 4,000. */
  readonly maxCharacters?: number | undefined;
  /** How many messages one search looks at, newest first. Default 2,000. */
  readonly maxSearched?: number | undefined;
}

/** What the model gives: words to look for, or the id of a message. */
export interface RecallInput {
  readonly query?: string | undefined;
  readonly id?: string | undefined;
  /** Where an earlier search ended: the next one goes on before it. */
  readonly before?: number | undefined;
}

/** A tool in parts, as `@turnkeep/assistant` takes it; a framework takes its parts under its own names. */
export interface RecallTool {
  readonly description: string;
  /** JSON Schema of {@link RecallInput}. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** The answer as the model is shown it. */
  execute(input: RecallInput, context?: { readonly signal?: AbortSignal | undefined }): Promise<string>;
}

const description =
  "Looks into the earlier part of this conversation, which you are not shown any more. Give words that must have been " +
  "said (query), or the id of a message that an earlier answer named, to see it whole with what stood around it.";

const inputSchema = {
  type: "object",
  properties: {
    query: { type: "string", description: "Words to look for, as they were said" },
    id: { type: "string", description: "The id of one message" },
    before: { type: "integer", description: "To go on with a search: the number that its answer gave" },
  },
  additionalProperties: false,
} as const;

/** Stands in each answer, and tells a recalled result from what was said, however often a framework escapes it. */
const mark = "[recalled from the earlier conversation]";

const optionFields = {
  maxCharacters: optional(
    such<number>("an integer of 500 or more", (value) => Number.isSafeInteger(value) && Number(value) >= 500),
    4000,
  ),
  maxSearched: optional(integer(1), 2000),
} satisfies Fields<RecallToolOptions>;

/** Several words may be asked for; more than these are no help. */
const maxWords = 16;
const maxHits = 5;
/** As many of the messages before and after one are shown with it. */
const around = 2;

/**
 * A tool by which the model looks into what has left its view: for words, newest first, or for one message by its id with
 * what stood around it. Use it beside a window, so that what is evicted can still be found. It only reads, does bounded
 * work, and answers with at most `maxCharacters`, as JSON. Its own answers are marked, and never found again; what was edited,
 * regenerated or removed is not found either. What the memory's `eachAlone` processors hide, such as `redact`, is neither
 * shown nor found; what one that `shortens` leaves out, such as `truncateToolResults`, is. Give it the memory itself: of one
 * in a wrapper of yours it knows no processors.
 *
 * Errors: `INVALID_OPTION`; at run time those of {@link ChatMemory.history}. What the model asks wrongly is answered in
 * words.
 *
 * @example
 * ```ts
 * import { createChatMemory, recallTool, user } from "@turnkeep/core";
 *
 * const memory = createChatMemory({ window: { maxMessages: 1 } });
 * await memory.add(user("My sister lives in Bergen."), user("Where does she live?"));
 * const recall = recallTool(memory); // tools: { recall }
 * console.log(await recall.execute({ query: "sister" })); // {"note":"…","found":[{"said":"My sister lives in Bergen.", …
 * ```
 */
export function recallTool<M>(memory: ChatMemory<M>, options?: RecallToolOptions): RecallTool {
  const { maxCharacters, maxSearched } = takeOptions("recallTool's options", optionFields, options);
  callback("recallTool's memory.historyPages", (memory as Partial<ChatMemory<M>> | undefined)?.historyPages);
  return {
    description,
    inputSchema,
    execute: async (input, { signal } = {}) => {
      const { query, id, before } = (input ?? {}) as Readonly<Record<keyof RecallInput, unknown>>;
      const asked = { memory, signal, maxCharacters, maxSearched };
      const answer = (found: object): string => JSON.stringify({ note: mark, ...found });
      if (typeof id === "string" && id !== "") return answer(await recallAround(id, asked));
      const words = typeof query === "string" ? wordsOf(query) : [];
      if (words.length === 0)
        return answer({ error: "Nothing was asked for: give query, some words, or id." });
      const end = Number.isSafeInteger(before) && Number(before) >= 0 ? Number(before) : undefined;
      return answer(await recallWords(words, end, asked));
    },
  };
}

/** What one answer may take, and where it comes from. */
interface Asked<M> {
  readonly memory: ChatMemory<M>;
  readonly signal: AbortSignal | undefined;
  readonly maxCharacters: number;
  readonly maxSearched: number;
}

/** A message as the model is shown it. */
interface Recalled {
  readonly id: string;
  readonly role: string;
  readonly at: string;
  readonly said: string;
}

/** What a search answers; `before`: where the next one goes on, if not all was looked at. */
interface Found {
  readonly found: readonly Recalled[];
  readonly searched: number;
  readonly before: number | undefined;
}

/** A message that has some of the words, and where each of them first stands in its text. */
interface Hit<M> {
  readonly message: HistoryMessage<M>;
  readonly text: string;
  readonly places: readonly number[];
}

async function recallWords<M>(
  words: readonly string[],
  before: number | undefined,
  { memory, signal, maxCharacters, maxSearched }: Asked<M>,
): Promise<Found> {
  const hits: Hit<M>[] = [];
  const textOf = textReader(memory, signal);
  let searched = 0;
  let end: number | undefined;
  const pages = memory.historyPages({
    before,
    order: "descending",
    states: ["evicted"],
    limit: Math.min(200, maxSearched),
    signal,
  });
  for await (const { messages, hasMore } of pages) {
    for (const message of messages) {
      const text = await textOf(message);
      const lower = text.toLowerCase();
      const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
      if (places.length > 0) hits.push({ message, text, places });
    }
    // Of equally good ones the newest come first, and a stable sort keeps it so.
    hits.sort((a, b) => b.places.length - a.places.length).splice(maxHits);
    searched += messages.length;
    end = hasMore ? messages.at(-1)?.seq : undefined;
    if (searched >= maxSearched) break;
  }
  const found: Recalled[] = [];
  let left = maxCharacters - frame;
  for (const [at, { message, text, places }] of hits.entries()) {
    const room = Math.floor(left / (hits.length - at));
    const one = recalled(memory, message, text, { room, place: Math.min(...places) });
    if (one.said === "") continue;
    found.push(one);
    left -= JSON.stringify(one).length + 1;
  }
  return { found, searched, before: end };
}

async function recallAround<M>(
  id: string,
  { memory, signal, maxCharacters }: Asked<M>,
): Promise<{ readonly found: readonly Recalled[] }> {
  const states = ["live", "evicted"] as const;
  const { messages } = await memory.history({ ids: [id], states, signal }).catch(nothingForNoId);
  const [message] = messages;
  if (message === undefined) return { found: [] };
  const { seq } = message;
  const before = { before: seq, order: "descending" as const, states, limit: around, signal };
  const [earlier, later] = await Promise.all([
    memory.history(before),
    memory.history({ after: seq, states, limit: around, signal }),
  ]);
  const textOf = textReader(memory, signal);
  const aside = Math.floor((maxCharacters - frame) / 10);
  const own = maxCharacters - frame - 2 * around * aside;
  // Results are read before their calls, as a search meets them.
  const newestFirst = [...later.messages.reverse(), message, ...earlier.messages];
  const found: Recalled[] = [];
  for (const each of newestFirst)
    found.push(
      recalled(memory, each, await textOf(each), { room: each === message ? own : aside, place: 0 }),
    );
  return { found: found.reverse().filter(({ said }) => said !== "") };
}

/** The model may ask for what is no id. */
function nothingForNoId(error: unknown): { readonly messages: readonly never[] } {
  if (!isTurnkeepError(error, "INVALID_OPTION")) throw error;
  return { messages: [] };
}

/** What stands around the messages of an answer. */
const frame: number = 70 + mark.length;

/** How much of an answer a message may take, and the place in its text that must be seen. */
interface Room {
  readonly room: number;
  readonly place: number;
}

function recalled<M>(
  { format }: ChatMemory<M>,
  { id, createdAt, message }: HistoryMessage<M>,
  text: string,
  { room, place }: Room,
): Recalled {
  const rest = { id, role: format.role(message), at: new Date(createdAt).toISOString() };
  return { ...rest, said: excerpt(text, place, room - JSON.stringify({ ...rest, said: "" }).length - 1) };
}

/**
 * Reads what the model may see of a message, without what was recalled and the calls for it. It must be given newer messages
 * first, since a call is known by its answer. Before its call, an id is another's.
 */
function textReader<M>(
  memory: ChatMemory<M>,
  signal: AbortSignal | undefined,
): (message: HistoryMessage<M>) => Promise<string> {
  const { format } = memory;
  const processors = hidingOf(memory);
  const recalls = new Set<string>();
  return async ({ message }) => {
    const results = format.toolResults(message);
    const texts = resultTexts({ message, error: undefined, results }, results, format);
    for (const [at, { id }] of results.entries()) if (texts[at]?.includes(mark)) recalls.add(id);
    const isRecall = (id: string): boolean => recalls.has(id);
    const rest =
      recalls.size === 0 ? message : format.without(message, { toolCalls: isRecall, toolResults: isRecall });
    for (const { id } of format.toolCalls(message)) recalls.delete(id);
    if (rest === undefined) return "";
    const shown =
      processors.length === 0 ? [rest] : await applyProcessors<M>([rest], processors, { format, signal });
    return shown.map((one) => textIn(format.pieces(one))).join("\n");
  };
}

function textIn(pieces: ReturnType<ChatMemory<unknown>["format"]["pieces"]>): string {
  const said = pieces.filter(
    (piece) => piece.type === "text" && piece.of !== "reasoning" && piece.of !== "name",
  );
  return said.map((piece) => (piece.type === "text" ? piece.text : "")).join("\n");
}

/** Words as they are compared: a search that misses for a capital letter finds nothing that was said. */
function wordsOf(query: string): string[] {
  const words = query.toLowerCase().split(/[^\p{L}\p{N}\p{M}]+/u);
  return [...new Set(words)].filter((word) => word !== "").slice(0, maxWords);
}

/** A text, or what stands around a place in it, with dots where it was cut: as JSON it takes at most `room`. */
function excerpt(text: string, place: number, room: number): string {
  // Escaped, one character may take six.
  for (let size = Math.min(text.length, room); size > 0; size = Math.floor(size * 0.8)) {
    const start = Math.max(0, Math.min(place - Math.floor(size / 3), text.length - size));
    const part = wholeCharacters(text.slice(start, start + size));
    const said = `${start > 0 ? "…" : ""}${part}${start + size < text.length ? "…" : ""}`;
    if (JSON.stringify(said).length - 2 <= room) return said;
  }
  return "";
}

/** Without the half of a character at either end. */
function wholeCharacters(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}
