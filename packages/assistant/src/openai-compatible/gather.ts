import { newCallId } from "../call-id.ts";
import type { ModelDelta } from "../model.ts";
import { joinedContent, textsOf } from "./content.ts";
import { joinedDetails, reasoningOf } from "./reasoning.ts";
import type { WireCall, WireCallDelta, WireMessage } from "./wire.ts";

/**
 * Puts the chunks of a streamed answer together. Texts and lists of a delta go on where the last one ended; calls are told
 * apart by index, or by id where a server gives no index. Google gives parallel calls no index or all the same one, and at
 * times no id: there a name behind whole arguments begins a call.
 */
export class Gatherer {
  readonly #message: Record<string, unknown> = {};
  readonly #calls: WireCallDelta[] = [];

  add(delta: Readonly<Record<string, unknown>>, onDelta?: (delta: ModelDelta) => void): void {
    for (const [name, value] of Object.entries(delta)) {
      if (name === "role" || value === null || value === undefined) continue;
      if (name === "tool_calls") {
        for (const call of value as readonly WireCallDelta[]) this.#addCall(call);
        continue;
      }
      this.#message[name] = joinedMember(name, this.#message[name], value);
    }
    if (onDelta === undefined) return;
    for (const told of this.#deltasOf(delta)) if (told.text !== "") onDelta(told);
  }

  #deltasOf(delta: Readonly<Record<string, unknown>>): ModelDelta[] {
    const { text, reasoning } = textsOf(delta.content);
    // A refusal stands in the place of a content.
    const refusal = textsOf(this.#message.content).text === "" ? textsOf(delta.refusal).text : "";
    return [
      { type: "reasoning", text: reasoning || reasoningOf(delta) },
      { type: "text", text: text || refusal },
    ];
  }

  message(): WireMessage {
    return wireMessage({ ...this.#message, tool_calls: this.#calls });
  }

  #addCall(delta: WireCallDelta): void {
    const place = this.#placeOf(delta);
    const before = this.#calls[place];
    const { name, arguments: given } = delta.function ?? {};
    const known = before?.function?.name ?? "";
    this.#calls[place] = {
      ...before,
      ...withoutNothing(delta),
      function: {
        // NVIDIA's servers repeat the name in each chunk of some models.
        name: name === known ? known : known + (name ?? ""),
        arguments: joined(before?.function?.arguments, given),
      },
    };
  }

  #placeOf(delta: WireCallDelta): number {
    const { index, id } = delta;
    const isOfIndex = (call: WireCallDelta): boolean => isNothing(index) || call.index === index;
    const byId = isNothing(id) ? -1 : this.#calls.findLastIndex((call) => call.id === id && isOfIndex(call));
    if (byId < 0 && isNothing(index) && !isNothing(id)) return this.#calls.length;
    const place = byId < 0 ? this.#calls.findLastIndex(isOfIndex) : byId;
    const before = this.#calls[place];
    return before === undefined || beginsAnother(delta, before) ? this.#calls.length : place;
  }
}

/** Whether a delta with the index, or the id, of a call is the first one of another. */
function beginsAnother({ id, function: more }: WireCallDelta, before: WireCallDelta): boolean {
  if (isNothing(more?.name)) return false;
  if (!isNothing(id) && !isNothing(before.id) && id !== before.id) return true;
  return joined("", more?.arguments).trimStart().startsWith("{") && isJson(before.function?.arguments);
}

function isJson(text: unknown): boolean {
  try {
    JSON.parse(text as string);
    return true;
  } catch {
    return false;
  }
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function joinedMember(name: string, before: unknown, more: unknown): unknown {
  if (name === "content") return joinedContent(before, more);
  // Of who speaks: MiniMax gives it in each chunk.
  if (name === "name") return more;
  if (name === "reasoning_details" && Array.isArray(more)) return joinedDetails(before, more);
  if (typeof more === "string") return typeof before === "string" ? before + more : more;
  return Array.isArray(more) && Array.isArray(before) ? [...before, ...more] : more;
}

/** Some servers give the arguments as a value instead of its JSON. */
function joined(before: unknown, more: unknown): string {
  const text =
    more === undefined || more === null ? "" : typeof more === "string" ? more : JSON.stringify(more);
  return (typeof before === "string" ? before : "") + text;
}

function withoutNothing(delta: WireCallDelta): Record<string, unknown> {
  return Object.fromEntries(Object.entries(delta).filter(([, value]) => !isNothing(value)));
}

/**
 * A message as every server takes it back: calls have ids of their own, made here where the server gave none or one twice,
 * and a list of no calls, which some refuse, is left out.
 */
export function wireMessage(given: Readonly<Record<string, unknown>>): WireMessage {
  const { tool_calls: calls, content = null, ...rest } = given;
  const message: WireMessage = { ...rest, role: "assistant", content };
  const taken = new Set<string>();
  const named = ((calls ?? []) as readonly WireCallDelta[]).map((call): WireCall => {
    const { index: _, ...others } = call;
    const id = call.id && !taken.has(call.id) ? call.id : newCallId();
    taken.add(id);
    const { name, arguments: text } = call.function ?? {};
    return { ...others, id, type: "function", function: { name: name ?? "", arguments: joined("", text) } };
  });
  if (named.length > 0) message.tool_calls = named;
  return message;
}
