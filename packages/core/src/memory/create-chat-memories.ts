import { abortSignal } from "../abort.ts";
import type {
  AssignRequest,
  ChatMemories,
  ChatMemoriesOptions,
  ForkOptions,
  MemoryListPage,
  MemoryListQuery,
  MemoryOwner,
  Pruned,
  PruneRequest,
} from "../chat-memories.ts";
import type { ChatMemory } from "../chat-memory.ts";
import { quoted, TurnkeepError } from "../errors.ts";
import type { ModelMessage, ModelMessageLike } from "../format/model-message.ts";
import type { MemoryCallOptions } from "../memory-call-options.ts";
import type { MemorySettings } from "../memory-settings.ts";
import type { AnyMessage } from "../message-format.ts";
import { oneOf, such, worded } from "../option-checks.ts";
import { type Fields, optional, takeOptions } from "../option-fields.ts";
import { checkMemoryId, checkOwner } from "../stores/checks.ts";
import { resolveLimits } from "../window/limits.ts";
import { AllMemories } from "./all-memories.ts";
import { takeSignal } from "./call-options.ts";
import { codedStore } from "./coded-store.ts";
import { persist } from "./deadline.ts";
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
import type { PrunedState } from "./prune.ts";
import { Session } from "./session.ts";
import { ToldChatMemory } from "./stored-chat-memory.ts";
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
  return new ToldChatMemories(memoriesSettings(options));
}

const ownerFields = { owner: worded(checkOwner) } satisfies Fields<MemoryOwner>;

// The store checks the values.
const listFields = {
  owner: optional(),
  order: optional(),
  cursor: optional(),
  limit: optional(),
  signal: optional(abortSignal),
} satisfies Fields<MemoryListQuery>;

const assignFields = {
  from: worded(checkOwner),
  to: worded(checkOwner),
  ids: optional(such<readonly string[]>("an array of memory ids", Array.isArray)),
} satisfies Fields<AssignRequest>;

const pruned: readonly PrunedState[] = ["evicted", "superseded"];

const pruneFields = {
  olderThanMs: such<number>(
    "a whole number of milliseconds of 0 or more",
    (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  ),
  states: optional(
    such<readonly PrunedState[]>(
      'an array of "evicted" and "superseded"',
      (value) => Array.isArray(value) && value.length > 0 && value.every((state) => pruned.includes(state)),
    ),
    pruned,
  ),
  owner: optional(worded(checkOwner)),
  dryRun: optional(oneOf(true, false), false),
} satisfies Fields<PruneRequest>;

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
  readonly #recent: Map<string, ToldChatMemory<M>> = new Map();
  /** Also holds memories that left `#recent` but are still referenced: two instances of one id would not keep order. */
  readonly #held: Map<string, WeakRef<ToldChatMemory<M>>> = new Map();
  /** `undefined` in runtimes without it (Cloudflare Workers before May 2025); then only `#recent` holds memories. */
  readonly #collected: FinalizationRegistry<string> | undefined =
    typeof FinalizationRegistry === "undefined"
      ? undefined
      : new FinalizationRegistry((key) => {
          if (this.#held.get(key)?.deref() === undefined) this.#held.delete(key);
        });
  readonly #all: AllMemories<M>;
  #closing: Promise<unknown> | undefined;

  constructor(options: MemoriesSettings<M>) {
    this.#options = options;
    // An `owner` function is called for the application's own ids only.
    const owner = typeof options.owner === "function" ? undefined : options.owner;
    this.#settings = settingsOf(options, {
      id: "any",
      store: codedStore(options.store, options),
      owner,
    });
    this.#all = new AllMemories(this.#settings);
  }

  get(id: string, options?: MemoryOwner): ChatMemory<M> {
    this.#checkOpen();
    checkMemoryId(id);
    if (options !== undefined) takeOptions("get's options", ownerFields, options);
    return this.#memory(id, this.#ownerOf(id, options));
  }

  #memory(id: string, owner: string | undefined): ToldChatMemory<M> {
    const key = JSON.stringify([id, owner]);
    const known = this.#recent.get(key) ?? this.#held.get(key)?.deref();
    const memory = known === undefined || known.closed ? this.#load(key, id, owner) : known;
    this.#recent.delete(key);
    this.#recent.set(key, memory);
    this.#trim();
    return memory;
  }

  async list(query: MemoryListQuery = {}): Promise<MemoryListPage> {
    this.#checkOpen();
    const { signal, ...rest } = takeOptions("list's argument", listFields, query);
    return this.#all.list(rest, signal);
  }

  async fork(from: string, to: string, options: ForkOptions = {}): Promise<ChatMemory<M>> {
    this.#checkOpen();
    checkMemoryId(from);
    checkMemoryId(to);
    const { signal, at } = takeOptions("fork's third argument", forkFields, options);
    const asked = "owner" in options ? (options as MemoryOwner) : undefined;
    const settings = { ...this.#settings, memoryId: from, owner: this.#ownerOf(from, asked) };
    const owner = this.#ownerOf(to, asked);
    const source = await new Session(settings).run(signal, async (call) => {
      call.mayWait();
      const limits = await resolveLimits(settings.window, to);
      return persist(call, () => readForkSource(settings, at, limits, call));
    });
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
    return { erased: await this.#all.erase(owner, signal) };
  }

  async assign(request: AssignRequest, options?: MemoryCallOptions): Promise<{ assigned: string[] }> {
    this.#checkOpen();
    const { from, to, ids } = takeOptions("assign's argument", assignFields, request);
    const signal = takeSignal("assign", options);
    for (const id of ids ?? []) checkMemoryId(id);
    return { assigned: await this.#all.assign(from, to, ids, signal) };
  }

  async prune(request: PruneRequest, options?: MemoryCallOptions): Promise<Pruned> {
    this.#checkOpen();
    const { olderThanMs, owner, ...which } = takeOptions("prune's argument", pruneFields, request);
    const signal = takeSignal("prune", options);
    return this.#all.prune({ ...which, before: Date.now() - olderThanMs }, owner, signal);
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

  #load(key: string, id: string, owner: string | undefined): ToldChatMemory<M> {
    const memory = new ToldChatMemory({ ...this.#settings, memoryId: id, owner });
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

/** Memories whose errors name the memory and the call. */
const ToldChatMemories = tellCalls(StoredChatMemories, ["list", "fork", "erase", "assign", "prune"]);
