/** The thread of a client elsewhere: it makes the client by the harness's module, and makes the calls that it is asked. */
import { extname } from "node:path";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import type { ChatMemoryStore } from "@turnkeep/core";
import type { Answer, ElsewhereData, Question } from "./elsewhere.ts";

// Imports nothing of ours but types: whatever this thread needs of core comes with the harness's module.

const javascript = [".js", ".mjs", ".cjs"];

async function makeStore({ module, data, jiti }: ElsewhereData): Promise<ChatMemoryStore> {
  const exported = javascript.includes(extname(module))
    ? ((await import(pathToFileURL(module).href)) as { default: unknown }).default
    : await (await import(pathToFileURL(jiti).href)).createJiti(module, { fsCache: false }).import(module, {
        default: true,
      });
  if (typeof exported === "function") return exported(data);
  throw new TypeError(`${module} must export a function as its default, which makes a store`);
}

/** A `TurnkeepError` is known by its name and code: this thread has a copy of core of its own. */
function errorOf(error: unknown): { code: string | undefined; message: string } {
  const { code, name, message = String(error) } = (error ?? {}) as Partial<Error> & { code?: string };
  return { code: name === "TurnkeepError" ? code : undefined, message };
}

async function appendMany(store: ChatMemoryStore, id: string, count: number, name: string): Promise<void> {
  for (let added = 0; added < count; ) {
    const { version: expected, nextSeq: seq } = await store.getMessages(id);
    const append = [{ id: `${name}${added}`, seq, createdAt: 0, payload: "{}" }];
    const version = `${name}${added}-${seq}`;
    try {
      await store.updateMessages(id, { expected, version, nextSeq: seq + 1, append, replace: [], move: [] });
      added++;
    } catch (error) {
      if (errorOf(error).code !== "VERSION_CONFLICT") throw error;
    }
  }
}

async function serve(): Promise<void> {
  const store = await makeStore(workerData as ElsewhereData);
  const answer = (message: Answer): void => parentPort?.postMessage(message);
  parentPort?.on("message", async ({ id, method, args }: Question) => {
    try {
      const call = store[method as "close"] as (...given: readonly unknown[]) => Promise<unknown>;
      const value =
        method === "appendMany"
          ? await appendMany(store, ...(args as [string, number, string]))
          : await call.apply(store, [...args]);
      answer({ id, value });
    } catch (error) {
      answer({ id, error: errorOf(error) });
    }
  });
  answer({ id: 0, value: { ...store.capabilities } });
}

await serve();
