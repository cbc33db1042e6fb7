import { type Event, isCompactedEvent } from "@google/adk";
import type { CallPlace, MessageFormat, Role, ToolCallRef } from "@turnkeep/core";
import { derived, type Visit, withMember } from "@turnkeep/core/format-kit";
import { type GeminiContent, geminiFormat } from "@turnkeep/formats/gemini";
import { eventOf, plainEvent } from "./events.ts";
import { checkEvent } from "./format/check.ts";

const visitContent = geminiFormat.visit as Visit<GeminiContent>;

/** A model reads an event's content. What an event does beside it, such as setting a state, is not shown. */
const visitEvent: Visit<Event> = (event, at) => {
  if (isCompactedEvent(event)) return at.textPart(event, "compactedContent", "content");
  const { content } = event;
  if (content === undefined) return at.unsent(event);
  const visited = visitContent(content, at);
  return visited && withMember(event, "content", visited);
};

const format = derived<Event>(visitEvent, {
  name: "google-adk-events",
  version: 1,
  role,
  interruptedResults,
  textMessage: (role, text) => made(`text ${role}`, geminiFormat.textMessage?.(role, text) as GeminiContent),
  joined,
  resultsFirst: (event) => withContent(event, (content) => geminiFormat.resultsFirst?.(content) ?? content),
  check: checkEvent,
});

/**
 * The events of Google's ADK, kept as they are: content, actions, state deltas, usage, branch. What is stored is the JSON
 * that ADK's own database holds, so an object of a class comes back as the plain data that JSON makes of it. Read again,
 * each is what `isEvent` recognises.
 *
 * Its `encode` throws `INVALID_MESSAGE` for what is no event, content of another role than `user` and `model`, parts that are
 * no list of objects, and a call or response without the function's name.
 *
 * @example
 * ```ts
 * import { createEvent } from "@google/adk";
 * import { createChatMemory } from "@turnkeep/core";
 * import { adkFormat } from "@turnkeep/google-adk";
 *
 * const memory = createChatMemory({ format: adkFormat, window: { maxMessages: 40, unit: "turn" } });
 * await memory.add(createEvent({ author: "user", content: { role: "user", parts: [{ text: "Hello" }] } }));
 * const events = await memory.messages(); // Event[]
 * ```
 */
export const adkFormat: MessageFormat<Event> = {
  ...format,
  renameCalls,
  equals: (a, b) => format.equals(plainEvent(a), plainEvent(b)),
  encode: (event) => format.encode(plainEvent(event)),
  decode: (text) => eventOf(format.decode(text)),
};

/** An event names those of its calls that take long once more. */
function renameCalls(event: Event, rename: (id: string, of?: CallPlace) => string): Event {
  const renamed = format.renameCalls?.(event, rename) ?? event;
  if (renamed === event || (event.longRunningToolIds ?? []).length === 0) return renamed;
  const calls = format.toolCalls(renamed);
  const ids = new Map(format.toolCalls(event).map(({ id }, at) => [id, calls[at]?.id ?? id]));
  return { ...renamed, longRunningToolIds: (event.longRunningToolIds ?? []).map((id) => ids.get(id) ?? id) };
}

/** An event without content begins no turn. */
function role(event: Event): Role {
  if (isCompactedEvent(event)) return "user";
  return event.content === undefined ? "assistant" : geminiFormat.role(event.content);
}

function withContent(event: Event, change: (content: GeminiContent) => GeminiContent): Event {
  return event.content === undefined ? event : withMember(event, "content", change(event.content));
}

/** What no agent said. ADK shows the user's events to every agent. */
function made(id: string, content: GeminiContent): Event {
  return eventOf({ id, invocationId: "", author: "user", content, timestamp: 0 } as Event);
}

function interruptedResults(calls: readonly ToolCallRef[], text: string): readonly Event[] {
  return geminiFormat
    .interruptedResults(calls, text)
    .map((content) => made(`interrupted ${calls[0]?.id}`, content));
}

/** Events of one author, as seen by the same agents. */
function joined(first: Event, second: Event): Event | undefined {
  const isApart = (["author", "branch", "isolationScope"] as const).some((at) => first[at] !== second[at]);
  if (isApart || isCompactedEvent(first) || isCompactedEvent(second)) return undefined;
  if (first.content === undefined || second.content === undefined) return undefined;
  const content = geminiFormat.joined?.(first.content, second.content);
  return content && { ...first, content };
}
