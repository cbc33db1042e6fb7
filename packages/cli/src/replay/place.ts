import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChatMemoryStore, TurnkeepError } from "@turnkeep/core";
import { redactUrl } from "@turnkeep/core/store-kit";
import { postgresStore } from "@turnkeep/store-postgres";
import { printable } from "./display-width.ts";

/** An open store; closing it closes the database too. */
export interface Place {
  readonly store: ChatMemoryStore;
  close(): Promise<void>;
}

export function isPostgresUrl(store: string): boolean {
  return /^postgres(ql)?:\/\//i.test(store);
}

/** How a store is named to people: an address without its password. */
export function storeName(store: string): string {
  return printable(isPostgresUrl(store) ? redactUrl(store) : `PGlite in ${store}`);
}

/** Opens a store and creates its tables where they are missing. `store`: a folder for PGlite, or `postgres://…`. */
export async function openPlace(store: string): Promise<Place> {
  if (isPostgresUrl(store)) {
    const server = postgresStore({ url: store });
    const place = { store: server, close: () => server.close() };
    return migrated(server.migrate(), place);
  }
  checkFolder(store);
  const { PGlite } = await import("@electric-sql/pglite");
  const client = await PGlite.create(store);
  const embedded = postgresStore({ client });
  const place = {
    store: embedded,
    close: async () => {
      await embedded.close();
      await client.close();
    },
  };
  return migrated(embedded.migrate(), place);
}

async function migrated(migration: Promise<void>, place: Place): Promise<Place> {
  try {
    await migration;
    return place;
  } catch (error) {
    await place.close();
    throw error;
  }
}

/** PGlite would lay a database over whatever is there. */
function checkFolder(folder: string): void {
  if (!existsSync(folder)) return;
  const names = readdirSync(folder);
  if (names.length === 0 || names.includes("PG_VERSION")) return;
  throw new TurnkeepError(
    "INVALID_OPTION",
    `The folder ${folder} holds other files. Name an empty folder, a new one, or one of an earlier replay.`,
  );
}

/** A new folder that is gone when this process ends, however it ends short of being killed. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "turnkeep-replay-"));
  const remove = (): void => {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    process.removeListener("exit", remove);
  };
  process.once("exit", remove);
  return { path, remove };
}
