import type { ModelMessage } from "@turnkeep/core";
import type { Contender } from "./contenders.ts";

const timeoutMs = 30_000;
const target = 0.7;

/** A message as the store keeps it. */
interface Row {
  readonly id: string;
  readonly createdAt: number;
  readonly tokens: number;
  readonly text: string;
}

/** A message, or an assistant's calls with their results: what is shown and evicted as one. */
interface Step {
  readonly messages: ModelMessage[];
  readonly ids: string[];
  readonly callIds: readonly string[];
  tokens: number;
}

/** The rows of one memory under a version, as a database would keep them for several writers. */
class Rows {
  readonly #live: Map<string, Row> = new Map();
  readonly #evicted: Row[] = [];
  #version = "";

  async read(
    known: string | undefined,
  ): Promise<{ readonly version: string; readonly rows?: readonly Row[] }> {
    return known === this.#version
      ? { version: known }
      : { version: this.#version, rows: [...this.#live.values()] };
  }

  async write(
    expected: string | undefined,
    version: string,
    row: Row,
    evicted: readonly string[],
  ): Promise<void> {
    if (expected !== this.#version) throw new Error("Somebody else has written since");
    this.#live.set(row.id, row);
    for (const id of evicted) {
      this.#evicted.push(this.#live.get(id) as Row);
      this.#live.delete(id);
    }
    this.#version = version;
  }
}

/**
 * A memory as one would write it for one application, with the promises that ours makes and nothing else: a message is
 * checked, copied and frozen, and stored as JSON text with an id, its time and its tokens under a version; calls run in
 * their order, each within a time limit; the oldest steps leave down to 0.7 of the limit; a view holds whole steps.
 */
class MemoryByHand {
  readonly #store: Rows = new Rows();
  readonly #maxTokens: number;
  readonly #count: (message: ModelMessage) => number;
  /** What the steps were read at; `undefined`: unknown. */
  #version: string | undefined;
  #steps: Step[] = [];
  #tokens = 0;
  #before: Promise<unknown> = Promise.resolve();

  constructor(maxTokens: number, count: (message: ModelMessage) => number) {
    this.#maxTokens = maxTokens;
    this.#count = count;
  }

  add(given: ModelMessage): Promise<string> {
    const message = frozenCopy(given) as ModelMessage;
    check(message);
    const text = JSON.stringify(message);
    const row = { id: crypto.randomUUID(), createdAt: Date.now(), tokens: this.#count(message), text };
    return this.#inTurn(() => this.#write(row, message));
  }

  messages(): Promise<ModelMessage[]> {
    return this.#inTurn(async () => {
      await this.#load();
      if (this.#tokens > this.#maxTokens) throw new Error("The newest step alone exceeds the limit");
      return this.#steps.flatMap(({ messages }) => messages);
    });
  }

  async #write(row: Row, message: ModelMessage): Promise<string> {
    if (this.#version === undefined) await this.#load();
    this.#enter(row, message);
    const evicted = this.#tokens > this.#maxTokens ? this.#evict() : [];
    const version = crypto.randomUUID();
    const expected = this.#version;
    this.#version = undefined;
    await this.#store.write(expected, version, row, evicted);
    this.#version = version;
    return row.id;
  }

  async #load(): Promise<void> {
    const { version, rows } = await this.#store.read(this.#version);
    if (rows === undefined) return;
    this.#version = version;
    this.#steps = [];
    this.#tokens = 0;
    for (const row of rows) this.#enter(row, frozenCopy(JSON.parse(row.text)) as ModelMessage);
  }

  #enter({ id, tokens }: Row, message: ModelMessage): void {
    this.#tokens += tokens;
    const answered = message.role === "tool" ? resultIdsOf(message) : [];
    const asked =
      answered.length === 0
        ? undefined
        : this.#steps.findLast(({ callIds }) => callIds.some((id) => answered.includes(id)));
    if (asked === undefined) {
      this.#steps.push({ messages: [message], ids: [id], callIds: callIdsOf(message), tokens });
      return;
    }
    asked.messages.push(message);
    asked.ids.push(id);
    asked.tokens += tokens;
  }

  #evict(): readonly string[] {
    const first = this.#steps[0]?.messages[0]?.role === "system" ? 1 : 0;
    let end = first;
    for (; end < this.#steps.length - 1 && this.#tokens > this.#maxTokens * target; end++)
      this.#tokens -= this.#steps[end]?.tokens ?? 0;
    return this.#steps.splice(first, end - first).flatMap(({ ids }) => ids);
  }

  #inTurn<T>(call: () => Promise<T>): Promise<T> {
    const turn = this.#before.then(() => inTime(call));
    this.#before = turn.catch(() => {});
    return turn;
  }
}

function inTime<T>(call: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("The call took too long")), timeoutMs);
    call()
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

/** What JSON holds, and nothing else. */
function frozenCopy(value: unknown): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value))
    return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  if (typeof value !== "object" || Object.getPrototypeOf(value) !== Object.prototype)
    throw new TypeError("A message holds what JSON cannot");
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    if (key === "__proto__") throw new TypeError("A message holds a prototype");
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) copy[key] = frozenCopy(member);
  }
  return Object.freeze(copy);
}

function check({ role, content }: ModelMessage): void {
  const isText = typeof content === "string" && role !== "tool";
  const isParts = Array.isArray(content) && content.every(({ type }) => typeof type === "string");
  if (!["system", "user", "assistant", "tool"].includes(role) || !(isText || isParts))
    throw new TypeError("This is no message");
}

function callIdsOf({ content }: ModelMessage): readonly string[] {
  if (typeof content === "string") return [];
  return content.flatMap((part) => (part.type === "tool-call" ? part.toolCallId : []));
}

function resultIdsOf({ content }: ModelMessage): readonly string[] {
  if (typeof content === "string") return [];
  return content.flatMap((part) => (part.type === "tool-result" ? part.toolCallId : []));
}

export const byHand: Contender = {
  name: "by hand",
  async open({ messages, maxTokens, count }) {
    const memory = new MemoryByHand(maxTokens, count);
    for (const message of messages) await memory.add(message);
    return {
      convert: (message) => message,
      async step(message) {
        await memory.add(message as ModelMessage);
        return (await memory.messages()).length;
      },
    };
  },
};
