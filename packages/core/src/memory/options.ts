import { abortSignal } from "../abort.ts";
import type { ChatMemoriesOptions } from "../chat-memories.ts";
import type { ChatMemoryOptions, MemoryPolicy, ViewOfOptions } from "../chat-memory-options.ts";
import { invalidOption } from "../errors.ts";
import { modelMessageFormat } from "../format/model-message-format.ts";
import type { CodedStore, MemorySettings } from "../memory-settings.ts";
import type { ViewOptions } from "../memory-view.ts";
import type { MessageFormat, SystemMessages } from "../message-format.ts";
import {
  type Check,
  callback,
  integer,
  oneOf,
  such,
  timeout,
  worded,
  wrongOption,
} from "../option-checks.ts";
import { checkedFields, type Fields, optional, takeOptions } from "../option-fields.ts";
import { checkProcessors } from "../processors/apply-processors.ts";
import type { Processor } from "../processors/processor.ts";
import type { ProviderProfile } from "../provider-profile.ts";
import { isPrompt } from "../steps/kinds.ts";
import type { ChatMemoryStore } from "../store-contract.ts";
import { checkMemoryId, checkOwner, ttl } from "../stores/checks.ts";
import { singleSlotStore } from "../stores/single-slot-store.ts";
import { kindOf } from "../values.ts";
import { addedByRepair, openCallsFor } from "../view/repair.ts";
import { windowSettings } from "../window/settings.ts";
import type { EvictionUnit } from "../window/units/unit.ts";
import { codedStore } from "./coded-store.ts";
import { noStore } from "./no-store.ts";

/** How the messages of a memory are read; the default format where none is given. */
export type FormatOption<M> = DefaultFormat | OwnFormat<M>;

export type DefaultFormat = {
  /** How to read messages of another type. Default `modelMessageFormat`. */
  readonly format?: undefined;
};

export type OwnFormat<M> = {
  /** How to read the messages. */
  readonly format: MessageFormat<M>;
};

const isText = (value: unknown): boolean => typeof value === "string";

const profileFields = {
  name: such<string>("a text", isText),
  firstMessage: oneOf("user", "any"),
  reasoning: oneOf("any", "none", "bound"),
  maxMessages: optional(integer(1)),
  shape: callback,
  storedCallIds: optional(callback),
} satisfies Fields<ProviderProfile>;

export const providerProfile: Check<ProviderProfile> = (name, value) => {
  const profile = value as Partial<ProviderProfile> | null;
  if (typeof profile !== "object" || typeof profile?.shape !== "function") {
    throw wrongOption(name, profile, "an object such as those of @turnkeep/formats/profiles");
  }
  checkedFields(profileFields, profile, `${name}.`);
};

/** What a view is for: reasoning that another model made, or the same one under other tools, may have to go; so may open calls. */
export const askedFields: Fields<Pick<ViewOptions<unknown>, "model" | "toolsKey" | "openCalls">> = {
  model: optional(such<string>("a text, such as a model's name", isText)),
  toolsKey: optional(such<string>("a text that names the tools", isText)),
  openCalls: optional(oneOf("any", "approved")),
};

/** The options that decide what a model is shown, wherever the messages are kept. */
const shapeFields = {
  format: optional(such<never>("a MessageFormat", hasEncode)),
  window: optional(),
  systemFirst: optional(oneOf(true, false)),
  systemMessages: optional(oneOf("one", "positioned")),
  processors: optional(worded<never>(checkProcessors), []),
  profile: optional(providerProfile),
  repair: optional(oneOf(true, false)),
  timeoutMs: optional(timeout, 30_000),
  onEvent: optional(callback),
} satisfies Fields<Omit<MemoryPolicy<unknown>, "history" | "retry" | "ttlMs"> & FormatOption<unknown>>;

const ttlOrNull: Check<number | null> = (name, value) => {
  if (value !== null) ttl(name, value);
};

/** The options that all memories of an application may share. */
const sharedFields = {
  ...shapeFields,
  history: optional(oneOf(true, false), true),
  retry: optional(oneOf(true, false), true),
  ttlMs: optional(ttlOrNull),
} satisfies Fields<MemoryPolicy<unknown> & FormatOption<unknown>>;

const viewOfFields = {
  ...shapeFields,
  ...askedFields,
  signal: optional(abortSignal),
} satisfies Fields<ViewOfOptions<unknown> & FormatOption<unknown>>;

const memoryFields = {
  id: optional(worded(checkMemoryId), "default"),
  store: optional(storeFor("createChatMemory")),
  owner: optional(worded(checkOwner)),
  ...sharedFields,
} satisfies Fields<ChatMemoryOptions<unknown> & FormatOption<unknown>>;

const memoriesFields = {
  store: storeFor("createChatMemories"),
  owner: optional(worded(checkOwnerOrFunction)),
  ...sharedFields,
  maxLoaded: optional(integer(1), 1000),
} satisfies Fields<ChatMemoriesOptions<unknown> & FormatOption<unknown>>;

/** The options that have a default whatever else is given. */
interface Defaulted<M> {
  readonly history: boolean;
  readonly processors: readonly Processor<M>[];
  readonly timeoutMs: number;
  readonly retry: boolean;
}

/** The options of many memories, checked. */
export type MemoriesSettings<M> = ChatMemoriesOptions<M> &
  FormatOption<M> &
  Defaulted<M> & { readonly maxLoaded: number };

/** Errors: `INVALID_OPTION`, naming the option, its value and what it must be. */
export function memorySettings<M>(options: ChatMemoryOptions<M> & FormatOption<M>): MemorySettings<M> {
  const given = takeOptions("createChatMemory's argument", memoryFields, options);
  const { id, store = singleSlotStore(), owner } = given;
  if (options.store !== undefined && options.id === undefined) {
    throw invalidOption(
      "A memory in a store needs an id: without one, all users would share one memory. Give { id, store }.",
    );
  }
  return settingsOf(given, {
    id,
    store: codedStore(store, given),
    owner,
    isOwn: options.store === undefined,
  });
}

/** What the options of a view of a list come to. */
interface ViewSettings<M> extends Pick<ViewOfOptions<M>, "model" | "toolsKey" | "openCalls" | "signal"> {
  readonly settings: MemorySettings<M>;
}

/** Errors: as above; also for a window that summarizes. */
export function viewSettings<M>(options: ViewOfOptions<M> & FormatOption<M>): ViewSettings<M> {
  const { model, toolsKey, openCalls, signal, ...given } = takeOptions(
    "viewOf's options",
    viewOfFields,
    options,
  );
  if (given.window?.summarize !== undefined) {
    throw invalidOption(
      "viewOf has nowhere to keep a summary: leave window.summarize out, or keep the messages in a memory.",
    );
  }
  const place = { id: "view", store: noStore, owner: undefined };
  const settings = settingsOf({ ...given, history: true, retry: false }, place);
  return { settings, model, toolsKey, openCalls, signal };
}

/** Errors: as above. */
export function memoriesSettings<M>(options: ChatMemoriesOptions<M> & FormatOption<M>): MemoriesSettings<M> {
  return takeOptions("createChatMemories' argument", memoriesFields, options);
}

/** Where a memory is kept. */
interface MemoryPlaceSettings {
  readonly id: string;
  readonly store: CodedStore;
  readonly owner: string | undefined;
  readonly isOwn?: boolean;
}

/** What the options of one memory come to. Errors: `INVALID_OPTION` for those that do not go together. */
export function settingsOf<M>(
  shared: MemoryPolicy<M> & FormatOption<M> & Defaulted<M>,
  { id, store, owner, isOwn = false }: MemoryPlaceSettings,
): MemorySettings<M> {
  const { profile, processors, history, timeoutMs, retry, ttlMs, onEvent } = shared;
  checkTtl(ttlMs, store);
  if (profile !== undefined && shared.repair === false) {
    throw invalidOption(
      "repair: false shows the memory as it is, a profile shows it as a provider accepts it: leave one of the two out.",
    );
  }
  const window = windowSettings(shared.window, profile);
  const { defaults, keepsSystems } = window.unit;
  const systemFirst = shared.systemFirst ?? defaults.systemFirst;
  const format = shared.format ?? (modelMessageFormat as unknown as MessageFormat<M>);
  const reader = { format, counter: window.counter, pinned: window.pinned };
  const alwaysFront = systemFirst && !keepsSystems;
  return {
    memoryId: id,
    store,
    isOwn,
    owner,
    reader,
    window,
    systemFirst,
    systemMessages: systemMessagesOf(shared, format, window.unit),
    isFront: (item) => isPrompt(item) && (alwaysFront || item.meta.front === true),
    repair: shared.repair ?? defaults.repair,
    profile,
    processors: [...processors],
    addedByRepair: addedByRepair(reader, openCallsFor(profile)),
    keepsHistory: history && store.capabilities.history,
    timeoutMs,
    retry,
    ttlMs,
    onEvent,
  };
}

/** Errors: `INVALID_OPTION` for a time to live where nothing expires. */
function checkTtl(ttlMs: number | null | undefined, { capabilities }: CodedStore): void {
  if (ttlMs === undefined || capabilities.ttl) return;
  throw invalidOption(
    "ttlMs needs a store whose memories expire, and this one declares ttl: false. Choose another store, or leave ttlMs out",
  );
}

/** LangChain4j has one, and one that need not be first may come at any time. Errors: `INVALID_OPTION`. */
function systemMessagesOf<M>(
  { systemMessages, systemFirst }: MemoryPolicy<M>,
  format: MessageFormat<M>,
  unit: EvictionUnit,
): SystemMessages {
  const mayBePositioned = !unit.keepsSystems && systemFirst !== false;
  if (systemMessages !== "positioned") {
    return systemMessages ?? (mayBePositioned ? format.systemMessages : undefined) ?? "one";
  }
  if (mayBePositioned) return systemMessages;
  throw invalidOption(
    'systemMessages: "positioned" needs a prompt in front: leave out systemFirst: false, and choose window.unit step or turn.',
  );
}

/** Catches a database client or URL passed as the store. The value is not shown: a URL may hold a password. */
function storeFor(factory: string): Check<ChatMemoryStore> {
  return (_, value) => {
    if (typeof (value as Partial<ChatMemoryStore> | null | undefined)?.updateMessages === "function") return;
    throw invalidOption(`${factory} needs a store, such as inMemoryStore(); it was given ${kindOf(value)}.`);
  };
}

function checkOwnerOrFunction(owner: string | ((id: string) => string | undefined)): void {
  if (typeof owner !== "function") checkOwner(owner);
}

function hasEncode(format: unknown): boolean {
  return typeof (format as Partial<MessageFormat<unknown>> | null)?.encode === "function";
}
