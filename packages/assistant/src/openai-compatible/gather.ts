import type { ModelDelta } from "../model.ts";
import type { WireCall, WireCallDelta, WireMessage } from "./wire.ts";

const reasoningMembers = new Set(["reasoning_content", "reasoning"]);

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
      const before = this.#message[name];
      if (typeof value === "string") {
        this.#message[name] = typeof before === "string" ? before + value : value;
        if (value === "") continue;
        if (name === "content") onDelta?.({ type: "text", text: value });
        else if (reasoningMembers.has(name)) onDelta?.({ type: "reasoning", text: value });
      } else {
        this.#message[name] = Array.isArray(value) && Array.isArray(before) ? [...before, ...value] : value;
      }
    }
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
  const message: WireMessage = { ...rest, role: "assistant", content: content as string | null };
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
