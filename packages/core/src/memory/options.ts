import type { ChatMemoryOptions, MemoryPolicy } from "../chat-memory-options.ts";
import { invalidOption } from "../errors.ts";
import { modelMessageFormat } from "../format/model-message-format.ts";
import type { MemorySettings } from "../memory-settings.ts";
import type { MessageFormat } from "../message-format.ts";
import {
  checkFunction,
  checkInteger,
  checkOneOf,
  checkTimeout,
  kindOf,
  wrongOption,
} from "../option-checks.ts";
import { checkProcessors } from "../processors/apply-processors.ts";
import type { ProviderProfile } from "../provider-profile.ts";
import type { ChatMemoryStore } from "../store-contract.ts";
import { checkMemoryId, checkOwner } from "../stores/checks.ts";
import { singleSlotStore } from "../stores/single-slot-store.ts";
import { addedByRepair } from "../view/repair.ts";
import { windowSettings } from "../window/settings.ts";
import { codedStore } from "./coded-store.ts";

const defaultTimeoutMs = 30_000;

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

/** A memory's options, checked. Errors: `INVALID_OPTION`, naming the option, its value and what it must be. */
export function settingsOf<M>(options: ChatMemoryOptions<M> & FormatOption<M>): MemorySettings<M> {
  checkShared(options);
  const { id = "default", store: given = singleSlotStore(), owner } = options;
  checkStore("createChatMemory", given);
  const { retry = true, onEvent } = options;
  const store = codedStore(given, { retry, onEvent });
  if (options.store !== undefined && options.id === undefined) {
    throw invalidOption(
      "A memory in a store needs an id: without one, all users would share one memory. Give { id, store }.",
    );
  }
  const format = options.format ?? (modelMessageFormat as unknown as MessageFormat<M>);
  if (typeof format.encode !== "function") throw wrongOption("format", format, "a MessageFormat");
  checkMemoryId(id);
  if (owner !== undefined) checkOwner(owner);
  const { profile, processors = [] } = options;
  const window = windowSettings(options.window, profile);
  const { defaults, keepsSystems } = window.unit;
  const systemFirst = options.systemFirst ?? defaults.systemFirst;
  const reader = { format, counter: window.counter, pinned: window.pinned };
  const alwaysFront = systemFirst && !keepsSystems;
  return {
    memoryId: id,
    store,
    owner,
    reader,
    window,
    systemFirst,
    isFront: (item) => item.role === "system" && (alwaysFront || item.meta.front === true),
    repair: options.repair ?? defaults.repair,
    profile,
    processors: [...processors],
    addedByRepair: addedByRepair(reader, profile === undefined ? "any" : "approved"),
    keepsHistory: options.history !== false,
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    retry,
    onEvent,
  };
}

/** The names of the options that all memories of an application may share. */
export const sharedNames: readonly string[] = [
  "store",
  "owner",
  "format",
  "window",
  "history",
  "systemFirst",
  "processors",
  "profile",
  "repair",
  "timeoutMs",
  "retry",
  "onEvent",
];

/** Checks all options except where the memory is kept. */
export function checkShared<M>(options: MemoryPolicy<M>): void {
  const { history, systemFirst, repair, retry, timeoutMs, onEvent } = options;
  for (const [name, value] of Object.entries({ history, systemFirst, repair, retry })) {
    if (value !== undefined && typeof value !== "boolean") throw wrongOption(name, value, "true or false");
  }
  if (options.processors !== undefined) checkProcessors(options.processors);
  if (options.profile !== undefined) {
    checkProfile(options.profile);
    if (repair === false) {
      throw invalidOption(
        "repair: false shows the memory as it is, a profile shows it as a provider accepts it: leave one of the two out.",
      );
    }
  }
  checkTimeout(timeoutMs);
  checkFunction("onEvent", onEvent);
}

/** Errors: `INVALID_OPTION`. */
export function checkProfile(profile: ProviderProfile): void {
  if (typeof profile !== "object" || profile === null || typeof profile.shape !== "function") {
    throw wrongOption("profile", profile, "an object such as those of @turnkeep/formats/profiles");
  }
  const { name, firstMessage, reasoning, maxMessages, storedCallIds } = profile;
  if (typeof name !== "string") throw wrongOption("profile.name", name, "a text");
  checkOneOf("profile.firstMessage", firstMessage, ["user", "any"]);
  checkOneOf("profile.reasoning", reasoning, ["any", "none", "bound"]);
  if (maxMessages !== undefined) checkInteger("profile.maxMessages", maxMessages, 1);
  checkFunction("profile.storedCallIds", storedCallIds);
}

/** Catches a database client or URL passed as the store. The value is not shown: a URL may hold a password. */
export function checkStore(factory: string, store: ChatMemoryStore | undefined): void {
  if (typeof store?.updateMessages !== "function") {
    throw invalidOption(`${factory} needs a store, such as inMemoryStore(); it was given ${kindOf(store)}.`);
  }
}
