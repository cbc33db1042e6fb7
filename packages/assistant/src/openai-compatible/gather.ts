import type { ModelDelta } from "../model.ts";
import { joinedContent, textsOf } from "./content.ts";
import { joinedDetails, reasoningOf } from "./reasoning.ts";
import type { WireCall, WireCallDelta, WireMessage } from "./wire.ts";

/**
 * Puts the chunks of a streamed answer together. Texts and lists of a delta go on where the last one ended; calls are told
 * apart by index, or by id where a server gives no index.
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
    this.#calls[place] = {
      ...before,
      ...withoutNothing(delta),
      function: {
        name: (before?.function?.name ?? "") + (name ?? ""),
        arguments: joined(before?.function?.arguments, given),
      },
    };
  }

  #placeOf({ index, id }: WireCallDelta): number {
    if (index !== undefined) {
      const known = this.#calls.findIndex((call) => call.index === index);
      return known < 0 ? this.#calls.length : known;
    }
    const known = this.#calls.findIndex((call) => call.id === id);
    if (id !== undefined && id !== null && id !== "") return known < 0 ? this.#calls.length : known;
    return Math.max(0, this.#calls.length - 1);
  }
}

function joinedMember(name: string, before: unknown, more: unknown): unknown {
  if (name === "content") return joinedContent(before, more);
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
  return Object.fromEntries(
    Object.entries(delta).filter(([, value]) => value !== undefined && value !== null && value !== ""),
  );
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
    const id = call.id && !taken.has(call.id) ? call.id : `call_${crypto.randomUUID().replaceAll("-", "")}`;
    taken.add(id);
    const { name, arguments: text } = call.function ?? {};
    return { ...others, id, type: "function", function: { name: name ?? "", arguments: joined("", text) } };
  });
  if (named.length > 0) message.tool_calls = named;
  return message;
}
