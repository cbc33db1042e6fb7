import { type ConformanceGroup, type ConformanceHarness, runConformance } from "@turnkeep/conformance";
import { createChatMemory, user } from "@turnkeep/core";
import type { D1Client, DurableObjectClient, SqliteClient } from "../src/index.ts";
import { sqliteStore } from "../src/index.ts";
import { harnessOver, sent } from "./harness.ts";

// A Worker of Cloudflare's that runs the kit on its own databases, in the process that has them.

// The kit waits by it; the store needs nothing of Node's, so the Worker has no nodejs_compat.
globalThis.setImmediate ??= ((work: () => void) => setTimeout(work)) as unknown as typeof setImmediate;

interface Env {
  readonly DB: D1Client;
  readonly CHAT: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

/** The groups that the request names, on a database; or, if it names none, what an application would do. */
async function answer(request: Request, client: SqliteClient): Promise<Response> {
  const groups = new URL(request.url).searchParams.getAll("group") as ConformanceGroup[];
  if (groups.length === 0) return Response.json(await chat(client));
  const harness: ConformanceHarness = harnessOver(() => client);
  const { results } = await runConformance(harness, { groups, timeoutMs: 300_000 });
  return new Response(sent(results));
}

async function chat(client: SqliteClient): Promise<unknown[]> {
  const store = sqliteStore({ client });
  await store.migrate();
  const memory = createChatMemory({ id: crypto.randomUUID(), store });
  await memory.add(user("one"), user("two"));
  return (await memory.messages()).map(({ content }) => content);
}

/** Its class is backed by SQLite, by the Worker's settings. */
export class Chat {
  readonly #storage: DurableObjectClient;

  constructor(state: { readonly storage: DurableObjectClient }) {
    this.#storage = state.storage;
  }

  fetch(request: Request): Promise<Response> {
    return answer(request, this.#storage);
  }
}

const worker: { fetch(request: Request, env: Env): Promise<Response> } = {
  async fetch(request, { DB, CHAT }) {
    if (new URL(request.url).pathname === "/d1") return answer(request, DB);
    return CHAT.get(CHAT.idFromName("one")).fetch(request);
  },
};
export default worker;
