import { wrongSignal } from "../abort.ts";
import type { ChatMemories, ChatMemoriesOptions, ForkOptions, MemoryListQuery } from "../chat-memories.ts";
import type { ChatMemory } from "../chat-memory.ts";
import type { ChatMemoryOptions } from "../chat-memory-options.ts";
import { TurnkeepError } from "../errors.ts";
import type { ModelMessage, ModelMessageLike } from "../format/model-message.ts";
import type { MemoryCallOptions } from "../memory-call-options.ts";
import type { AnyMessage } from "../message-format.ts";
import { checkInteger, checkObject, checkOptions } from "../option-checks.ts";
import type { ListPage } from "../store-contract.ts";
import { checkMemoryId, checkOwner } from "../stores/checks.ts";
import { resolveLimits } from "../window/policy.ts";
import { StoredChatMemory } from "./create-chat-memory.ts";
import { withDeadline } from "./deadline.ts";
import { readForkSource, writeFork } from "./fork.ts";
import {
  checkStore,
  type DefaultFormat,
  type FormatOption,
  type OwnFormat,
  policyOf,
  sharedNames,
} from "./options.ts";
import type { Policy } from "./policy.ts";
import { Session } from "./session.ts";

const defaultMaxLoaded = 1000;

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
  checkObject("createChatMemories' argument", options, [...sharedNames, "maxLoaded"]);
  return new StoredChatMemories(options);
}

class StoredChatMemories<M> implements ChatMemories<M> {
  readonly #options: ChatMemoriesOptions<M> & FormatOption<M>;
  /** The part of the policy that is the same for all memories. */
  readonly #policy: Pick<Policy<M>, "store" | "timeoutMs">;
  readonly #maxLoaded: number;
  /** Least recently used first. */
  readonly #recent: Map<string, StoredChatMemory<M>> = new Map();
  /** Also holds memories that left `#recent` but are still referenced: two instances of one id would not keep order. */
  readonly #held: Map<string, WeakRef<StoredChatMemory<M>>> = new Map();
  /** `undefined` in runtimes without it (Cloudflare Workers before May 2025); then only `#recent` holds memories. */
  readonly #collected: FinalizationRegistry<string> | undefined =
    typeof FinalizationRegistry === "undefined"
      ? undefined
      : new FinalizationRegistry((id) => {
          if (this.#held.get(id)?.deref() === undefined) this.#held.delete(id);
        });
  #closing: Promise<unknown> | undefined;

  constructor(options: ChatMemoriesOptions<M> & FormatOption<M>) {
    const { store, owner, maxLoaded = defaultMaxLoaded } = options;
    checkStore("createChatMemories", store);
    checkInteger("maxLoaded", maxLoaded, 1);
    this.#options = options;
    this.#maxLoaded = maxLoaded;
    // An `owner` function is called for the application's own ids only.
    this.#policy = policyOf({
      ...options,
      id: "any",
      owner: typeof owner === "function" ? undefined : owner,
    });
  }

  get(id: string): ChatMemory<M> {
    this.#checkOpen();
    checkMemoryId(id);
    const known = this.#recent.get(id) ?? this.#held.get(id)?.deref();
    const memory = known === undefined || known.closed ? this.#load(id) : known;
    this.#recent.delete(id);
    this.#recent.set(id, memory);
    this.#trim();
    return memory;
  }

  async list(query: MemoryListQuery = {}): Promise<ListPage> {
    this.#checkOpen();
    checkObject("list's argument", query, ["owner", "cursor", "limit", "signal"]);
    const { signal, ...rest } = query;
    return this.#ask(signal, (call) => this.#policy.store.listMemories(rest, call));
  }

  async fork(from: string, to: string, options: ForkOptions = {}): Promise<ChatMemory<M>> {
    this.#checkOpen();
    checkMemoryId(from);
    checkMemoryId(to);
    checkObject("fork's third argument", options, ["at", "signal"]);
    const { signal, at } = options;
    const policy = policyOf(this.#optionsOf(from));
    const limits = await resolveLimits(policy.window, to);
    const source = await new Session(policy).run(signal, (call) => readForkSource(policy, at, limits, call));
    const target = new Session({ ...policy, memoryId: to, owner: source.owner });
    await target.run(signal, (call) =>
      target.commit(call, (draft, loaded) => writeFork(draft, loaded, source, to)),
    );
    return this.get(to);
  }

  async erase(
    request: { readonly owner: string },
    options: MemoryCallOptions = {},
  ): Promise<{ erased: string[] }> {
    this.#checkOpen();
    checkObject("erase's argument", request, ["owner"]);
    checkOptions("erase's options", options, ["signal"]);
    const { owner } = request;
    checkOwner(owner);
    const { signal } = options;
    const erased = new Set<string>();
    for (let before = -1; before < erased.size; ) {
      before = erased.size;
      // Page by page: if the list is ordered by id, a memory that began anew can come before those still to delete.
      let cursor: string | undefined;
      do {
        const page = await this.#ask(signal, (call) =>
          this.#policy.store.listMemories({ owner, cursor, limit: 1000 }, call),
        );
        for (const { memoryId } of page.memories) {
          if (erased.has(memoryId)) continue;
          await this.#ask(signal, (call) => this.#policy.store.deleteMessages(memoryId, call));
          erased.add(memoryId);
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

  /** One call of the store, with a time limit. */
  async #ask<T>(
    signal: AbortSignal | undefined,
    call: (options: MemoryCallOptions) => Promise<T>,
  ): Promise<T> {
    const wrong = wrongSignal(signal);
    if (wrong !== undefined) throw wrong;
    return withDeadline({ timeoutMs: this.#policy.timeoutMs, signal }, ({ signal }) => call({ signal }));
  }

  #load(id: string): StoredChatMemory<M> {
    const memory = new StoredChatMemory(this.#optionsOf(id));
    if (this.#collected !== undefined) {
      this.#held.set(id, new WeakRef(memory));
      this.#collected.register(memory, id);
    }
    return memory;
  }

  #trim(): void {
    for (const id of this.#recent.keys()) {
      if (this.#recent.size <= this.#maxLoaded) return;
      this.#recent.delete(id);
    }
  }

  #optionsOf(id: string): ChatMemoryOptions<M> & FormatOption<M> {
    const { owner, ...policy } = this.#options;
    return { ...policy, id, owner: typeof owner === "function" ? owner(id) : owner };
  }

  #checkOpen(): void {
    if (this.#closing !== undefined)
      throw new TurnkeepError("CLOSED", "These memories were closed. Create others.");
  }
}
