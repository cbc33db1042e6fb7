import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type ChatMemoryStore, isTurnkeepError, TurnkeepError } from "@turnkeep/core";
import { errorCode, invalidOption, redactUrl } from "@turnkeep/core/store-kit";
import { postgresStore } from "@turnkeep/store-postgres";
import { oneLine } from "../terminal/controls.ts";
import { folderToRead, folderToWrite, type Place } from "./folder.ts";
import { fileToRead, fileToWrite, isSqliteFile } from "./sqlite-file.ts";

/** What opens a store by its address. */
interface Adapter {
  readonly schemes: readonly string[];
  /** What has to be installed beside this package. */
  readonly packages: readonly string[];
  readonly open: (url: string) => Promise<ChatMemoryStore>;
}

const adapters: readonly Adapter[] = [
  { schemes: ["postgres", "postgresql"], packages: [], open: async (url) => postgresStore({ url }) },
  {
    schemes: ["redis", "rediss"],
    packages: ["@turnkeep/store-redis", "ioredis"],
    open: async (url) => (await import("@turnkeep/store-redis")).redisStore({ url }),
  },
  {
    schemes: ["mongodb", "mongodb+srv"],
    packages: ["@turnkeep/store-mongo", "mongodb"],
    open: async (url) => (await import("@turnkeep/store-mongo")).mongoStore({ url }),
  },
  {
    schemes: ["http", "https"],
    packages: ["@turnkeep/store-dynamo", "@aws-sdk/client-dynamodb"],
    open: async (url) => (await import("@turnkeep/store-dynamo")).dynamoStore({ url }),
  },
];

const modules = /\.[cm]?[jt]s$/i;

/** The scheme of an address; `undefined` for a path. */
function schemeOf(store: string): string | undefined {
  return /^([a-z][a-z0-9+.-]+):\/\//i.exec(store)?.[1]?.toLowerCase();
}

/** An address with a quote, a blank or a slash too few: as a folder's name it would be shown, password and all. */
function isNearlyAddress(store: string): boolean {
  const known = adapters
    .flatMap(({ schemes }) => schemes)
    .join("|")
    .replaceAll("+", "\\+");
  return store.includes("://") || new RegExp(`^\\W*(?:${known}):`, "i").test(store);
}

function adapterOf(store: string): Adapter | undefined {
  const scheme = schemeOf(store);
  return adapters.find(({ schemes }) => scheme !== undefined && schemes.includes(scheme));
}

/**
 * Where a store is: an address as it is given, a path from the root. `INVALID_OPTION` for nothing, and for an address of
 * another database.
 */
export function placeOf(store: string): string {
  if (store === "") throw invalidOption("store must name a folder, a file or an address, not nothing.");
  const scheme = schemeOf(store);
  const known = adapters.map(({ schemes }) => `${schemes[0]}://`).join(", ");
  if (scheme === undefined) {
    if (!isNearlyAddress(store)) return resolve(store);
    throw invalidOption(
      `store is no folder and no address (not shown: it may hold a password). An address begins with ${known}, without quotes or blanks before it.`,
    );
  }
  if (adapterOf(store) !== undefined) return store;
  throw invalidOption(
    `store must be a folder, a JavaScript file that exports a store, or begin with ${known}, not with ${scheme}://.`,
  );
}

/** Where a folder of this process's own keeps memories: in what Node has, else in what comes with this package. */
export function placeWithin(folder: string): string {
  return process.getBuiltinModule("node:sqlite") === undefined ? folder : join(folder, "memories.db");
}

/** How a place is named to people: an address without its password. */
export function placeName(store: string): string {
  if (adapterOf(store) !== undefined) return oneLine(redactUrl(store));
  if (modules.test(store)) return oneLine(`the store of ${store}`);
  return oneLine(`${isSqliteFile(store) ? "SQLite" : "PGlite"} in ${store}`);
}

/**
 * Opens the store at a place. To write to it, its tables and indexes are made where they are missing, and a folder may be
 * new; to read from it, nothing is made.
 */
export async function openPlace(store: string, purpose: "write" | "read"): Promise<Place> {
  const place = await open(store, purpose);
  if (purpose === "read") return place;
  try {
    await (place.store as Partial<Migrating>).migrate?.();
    return place;
  } catch (error) {
    await place.close();
    throw error;
  }
}

interface Migrating {
  migrate(): Promise<void>;
}

async function open(store: string, purpose: "write" | "read"): Promise<Place> {
  const adapter = adapterOf(store);
  if (adapter === undefined && isSqliteFile(store)) {
    return purpose === "write" ? fileToWrite(store) : fileToRead(store);
  }
  if (adapter === undefined && !modules.test(store)) {
    return purpose === "write" ? folderToWrite(store) : folderToRead(store);
  }
  const opened = await (adapter === undefined ? storeOfModule(store) : storeAt(store, adapter));
  return { store: opened, close: () => opened.close() };
}

async function storeAt(url: string, { open, packages }: Adapter): Promise<ChatMemoryStore> {
  try {
    return await open(url);
  } catch (cause) {
    if (errorCode(cause) !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw invalidOption(
      `${schemeOf(url)}:// needs packages that are not installed beside turnkeep: npm install ${packages.join(" ")}`,
    );
  }
}

/** The default export of a file: a store, or a function that answers one. */
async function storeOfModule(path: string): Promise<ChatMemoryStore> {
  if (!existsSync(path)) throw invalidOption(`The file ${path} does not exist.`);
  const store = await exportOf(path);
  if (isStore(store)) return store;
  throw invalidOption(`${path} must have a store, or a function that answers one, as its default export.`);
}

/** What the file fails with is the user's own, so its message is shown. */
async function exportOf(path: string): Promise<unknown> {
  try {
    const { default: exported } = await importFile(path);
    return typeof exported === "function" ? await exported() : exported;
  } catch (cause) {
    if (isTurnkeepError(cause)) throw cause;
    throw new TurnkeepError(
      "INVALID_OPTION",
      `${path} failed, and gave no store: ${oneLine(String(cause))}`,
      { cause },
    );
  }
}

const storeMethods = ["getMessages", "updateMessages", "getHistory", "listMemories", "close"] as const;

function isStore(value: unknown): value is ChatMemoryStore {
  const store = value as Partial<ChatMemoryStore> | null | undefined;
  return storeMethods.every((name) => typeof store?.[name] === "function");
}

async function importFile(path: string): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(pathToFileURL(path).href)) as { default?: unknown };
  } catch (cause) {
    if (errorCode(cause) !== "ERR_UNKNOWN_FILE_EXTENSION") throw cause;
    throw invalidOption(
      `Node ${process.versions.node} reads no TypeScript: name a JavaScript file, not ${path}.`,
    );
  }
}
