import { abortSignal, wrongSignal } from "../abort.ts";
import type {
  ChatMemories,
  ChatMemoriesOptions,
  ForkOptions,
  MemoryListQuery,
  MemoryOwner,
} from "../chat-memories.ts";
import type { ChatMemory } from "../chat-memory.ts";
import { isTurnkeepError, quoted, TurnkeepError } from "../errors.ts";
import type { ModelMessage, ModelMessageLike } from "../format/model-message.ts";
import type { MemoryCallOptions } from "../memory-call-options.ts";
import type { MemorySettings } from "../memory-settings.ts";
import type { AnyMessage } from "../message-format.ts";
import { worded } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import type { ListPage } from "../store-contract.ts";
import { checkMemoryId, checkOwner } from "../stores/checks.ts";
import { resolveLimits } from "../window/limits.ts";
import { takeSignal } from "./call-options.ts";
import { type Call, persist, repeatUntil, withDeadline } from "./deadline.ts";
import { eraseMemory } from "./erase.ts";
import { readForkSource, writeFork } from "./fork.ts";
import {
  type DefaultFormat,
  type FormatOption,
  type MemoriesSettings,
  memoriesSettings,
  type OwnFormat,
  settingsOf,
} from "./options.ts";
import { ownerMismatch } from "./owner.ts";
import { report } from "./report.ts";
import { Session } from "./session.ts";
import { StoredChatMemory } from "./stored-chat-memory.ts";
import { tellCalls } from "./told.ts";

/**
 * Manages many conversations in one store, under one policy.
 *
 * @example
 * ```ts
 * import { createChatMemories, inMemoryStore, user } from "@turnkeep/core";
 *
 * const memories = createChatMemories({ store: inMemoryStore(), window: { maxMessages: 20 } });
 * await memories.get("chat-1").add(user("Hello"));
 * console.log((await memories.list()).memories.length); // 1
 * ```
 */
export function createChatMemories<M extends ModelMessageLike = ModelMessage>(
  options: ChatMemoriesOptions<NoInfer<M>> & DefaultFormat,
): ChatMemories<M>;
export function createChatMemories<M extends AnyMessage>(
  options: ChatMemoriesOptions<NoInfer<M>> & OwnFormat<M>,
): ChatMemories<M>;
export function createChatMemories<M>(options: ChatMemoriesOptions<M> & FormatOption<M>): ChatMemories<M> {
  return new StoredChatMemories(memoriesSettings(options));
}

const ownerFields = { owner: worded(checkOwner) } satisfies Fields<MemoryOwner>;

// The store checks the values.
const listFields = {
  owner: optional(),
  cursor: optional(),
  limit: optional(),
  signal: optional(abortSignal),
} satisfies Fields<MemoryListQuery>;

const forkFields = {
  at: optional(),
  owner: optional(worded(checkOwner)),
  signal: optional(abortSignal),
} satisfies Fields<ForkOptions>;

class StoredChatMemories<M> implements ChatMemories<M> {
  readonly #options: MemoriesSettings<M>;
  /** For what concerns no memory, or one that is not loaded. */
  readonly #settings: MemorySettings<M>;
  /** By id and owner, least recently used first. */
  readonly #recent: Map<string, StoredChatMemory<M>> = new Map();
  /** Also holds memories that left `#recent` but are still referenced: two instances of one id would not keep order. */
  readonly #held: Map<string, WeakRef<StoredChatMemory<M>>> = new Map();
  /** `undefined` in runtimes without it (Cloudflare Workers before May 2025); then only `#recent` holds memories. */
  readonly #collected: FinalizationRegistry<string> | undefined =
    typeof FinalizationRegistry === "undefined"
      ? undefined
      : new FinalizationRegistry((key) => {
          if (this.#held.get(key)?.deref() === undefined) this.#held.delete(key);
        });
  #closing: Promise<unknown> | undefined;

  constructor(options: MemoriesSettings<M>) {
    this.#options = options;
    // An `owner` function is called for the application's own ids only.
    const owner = typeof options.owner === "function" ? undefined : options.owner;
    this.#settings = settingsOf(options, { id: "any", store: options.store, owner });
  }

  get(id: string, options?: MemoryOwner): ChatMemory<M> {
    this.#checkOpen();
    checkMemoryId(id);
    if (options !== undefined) takeOptions("get's options", ownerFields, options);
    return this.#memory(id, this.#ownerOf(id, options));
  }

  #memory(id: string, owner: string | undefined): StoredChatMemory<M> {
    const key = JSON.stringify([id, owner]);
    const known = this.#recent.get(key) ?? this.#held.get(key)?.deref();
    const memory = known === undefined || known.closed ? this.#load(key, id, owner) : known;
    this.#recent.delete(key);
    this.#recent.set(key, memory);
    this.#trim();
    return memory;
  }

  async list(query: MemoryListQuery = {}): Promise<ListPage> {
    this.#checkOpen();
    const { signal, ...rest } = takeOptions("list's argument", listFields, query);
    return this.#ask(signal, ({ signal }) => this.#settings.store.listMemories(rest, { signal }));
  }

  async fork(from: string, to: string, options: ForkOptions = {}): Promise<ChatMemory<M>> {
    this.#checkOpen();
    checkMemoryId(from);
    checkMemoryId(to);
    const { signal, at } = takeOptions("fork's third argument", forkFields, options);
    const asked = "owner" in options ? (options as MemoryOwner) : undefined;
    const settings = { ...this.#settings, memoryId: from, owner: this.#ownerOf(from, asked) };
    const owner = this.#ownerOf(to, asked);
    const limits = await resolveLimits(settings.window, to);
    const source = await new Session(settings).run(signal, (call) =>
      persist(call, () => readForkSource(settings, at, limits, call)),
    );
    if (owner !== undefined && source.owner !== undefined && source.owner !== owner) {
      throw ownerMismatch(
        to,
        `is to belong to ${quoted(owner)}, but a fork keeps its source's owner; nothing was changed. Fork to an id of the same owner.`,
      );
    }
    const target = new Session({ ...settings, memoryId: to, owner: source.owner ?? owner });
    await target.run(signal, (call) => target.commit(call, (attempt) => writeFork(attempt, source)));
    return this.#memory(to, owner);
  }

  async erase(
    request: { readonly owner: string },
    options?: MemoryCallOptions,
  ): Promise<{ erased: string[] }> {
    this.#checkOpen();
    const { owner } = takeOptions("erase's argument", ownerFields, request);
    const signal = takeSignal("erase", options);
    const erased = new Set<string>();
    for (let before = -1; before < erased.size; ) {
      before = erased.size;
      // Page by page: if the list is ordered by id, a memory that began anew can come before those still to delete.
      let cursor: string | undefined;
      do {
        const query = { owner, cursor, limit: 1000 };
        const page = await this.#ask(signal, (call) =>
          persist(call, () => this.#settings.store.listMemories(query, { signal: call.signal })),
        );
        for (const { memoryId } of page.memories) {
          if (erased.has(memoryId)) continue;
          const isErased = await this.#ask(signal, (call) => this.#erase(memoryId, owner, call));
          if (isErased) erased.add(memoryId);
        }
        cursor = page.cursor;
      } while (cursor !== undefined);
    }
    return { erased: [...erased] };
  }

  async close(): Promise<void> {
    // Includes memories that left `#recent` but are still referenced.
    const held = [...this.#held.values()].map((memory) => memory.deref());
    const loaded = new Set([...this.#recent.values(), ...held]);
    this.#recent.clear();
    this.#closing ??= Promise.all([...loaded].map((memory) => memory?.close()));
    await this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Whether it was the owner's, and is gone: meanwhile it may have gone by itself, and another's have begun. */
  async #erase(memoryId: string, owner: string, call: Call): Promise<boolean> {
    try {
      await eraseMemory({ ...this.#settings, memoryId, owner }, call, { isListed: true });
      report(this.#settings.onEvent, { type: "erased", memoryId });
      return true;
    } catch (error) {
      if (isTurnkeepError(error, "OWNER_MISMATCH")) return false;
      throw error;
    }
  }

  /** One call of the store, with a time limit. */
  async #ask<T>(signal: AbortSignal | undefined, call: (call: Call) => Promise<T>): Promise<T> {
    const wrong = wrongSignal(signal);
    if (wrong !== undefined) throw wrong;
    const { timeoutMs } = this.#settings;
    return withDeadline({ timeoutMs, signal, repeatUntil: repeatUntil(this.#settings) }, call);
  }

  #load(key: string, id: string, owner: string | undefined): StoredChatMemory<M> {
    const memory = new StoredChatMemory({ ...this.#settings, memoryId: id, owner });
    if (this.#collected !== undefined) {
      this.#held.set(key, new WeakRef(memory));
      this.#collected.register(memory, key);
    }
    return memory;
  }

  #trim(): void {
    for (const key of this.#recent.keys()) {
      if (this.#recent.size <= this.#options.maxLoaded) return;
      this.#recent.delete(key);
    }
  }

  /** The owner who asks, or the one for the id where nobody is named. Errors: `INVALID_OPTION`. */
  #ownerOf(id: string, asked: MemoryOwner | undefined): string | undefined {
    const { owner: byDefault } = this.#options;
    const inGeneral = typeof byDefault === "function" ? byDefault : () => byDefault;
    const owner = asked === undefined ? inGeneral(id) : asked.owner;
    if (asked !== undefined || owner !== undefined) checkOwner(owner as string);
    return owner;
  }

  #checkOpen(): void {
    if (this.#closing !== undefined)
      throw new TurnkeepError("CLOSED", "These memories were closed. Create others.");
  }
}

tellCalls(StoredChatMemories.prototype, ["list", "fork", "erase"]);
