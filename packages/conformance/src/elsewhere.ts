import type { ChatMemoryStore, StoreCapabilities, TurnkeepErrorCode } from "@turnkeep/core";
import { TurnkeepError } from "@turnkeep/core/store-kit";
import { neededFrom } from "./case.ts";
import type { ConformanceContext } from "./context.ts";
import type { ElsewhereModule } from "./harness.ts";
import { ConformanceError } from "./support/expect.ts";

/** A client in a thread of its own. Its calls take no signal: a signal cannot be sent. */
export interface ElsewhereClient extends ChatMemoryStore {
  /** Appends so many messages one by one, each with an id that begins with `name`, and repeats what another has overtaken. */
  appendMany(memoryId: string, count: number, name: string): Promise<void>;
}

/** What the thread is made with. */
export interface ElsewhereData {
  readonly module: string;
  readonly data: unknown;
  readonly jiti: string;
  readonly worker: string;
}

/** What the thread is asked. */
export interface Question {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** What it answers: first, as number 0, the store's capabilities. */
export type Answer = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly error: { readonly code: string | undefined; readonly message: string } }
);

/** On every version of Node, whatever the module is written in. */
const bootstrap = `
  const { workerData } = require("node:worker_threads");
  require(workerData.jiti).createJiti(workerData.worker, { fsCache: false }).import(workerData.worker);
`;

/** Runs with a client of the same data in a thread of its own, which ends afterwards. Needs `elsewhere`. */
export async function withElsewhere(
  { harness, signal }: ConformanceContext,
  run: (client: ElsewhereClient) => Promise<void>,
): Promise<void> {
  const thread = await startThread(await neededFrom(harness, "elsewhere")());
  // A call that hangs there would keep this process from its end.
  signal.addEventListener("abort", thread.stop);
  try {
    await run(await thread.client());
    await thread.end();
  } finally {
    signal.removeEventListener("abort", thread.stop);
    await thread.stop();
  }
}

async function startThread({ module, data }: ElsewhereModule) {
  // Only here: the kit also runs where there are no threads, such as in a Worker of Cloudflare's.
  const [{ createRequire }, { extname }, { fileURLToPath, pathToFileURL }, { Worker }] = await Promise.all([
    import("node:module"),
    import("node:path"),
    import("node:url"),
    import("node:worker_threads"),
  ]);
  const url = typeof module === "string" && !/^file:/.test(module) ? pathToFileURL(module) : module;
  const workerData: ElsewhereData = {
    module: fileURLToPath(url),
    data,
    jiti: createRequire(import.meta.url).resolve("jiti"),
    worker: fileURLToPath(new URL(`./elsewhere-worker${extname(import.meta.url)}`, import.meta.url)),
  };
  // Nothing of how this process was started, such as a test runner's loader.
  const worker = new Worker(bootstrap, { eval: true, workerData, execArgv: [] });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  let failure: Error | undefined;
  let asked = 0;

  const answerOf = (id: number): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (failure === undefined) waiting.set(id, { resolve, reject });
      else reject(failure);
    });
  const failAll = (error: Error): void => {
    failure = error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.on("message", (answer: Answer) => {
    const call = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ("value" in answer) call?.resolve(answer.value);
    else call?.reject(errorOf(answer.error));
  });
  worker.on("error", (error) => failAll(new ConformanceError(`the client elsewhere: saw ${error}`)));
  worker.on("exit", () => failAll(new ConformanceError("the client elsewhere: saw its thread end")));
  const ask = (method: string, ...args: unknown[]): Promise<never> => {
    const question: Question = { id: ++asked, method, args };
    worker.postMessage(question);
    return answerOf(question.id) as Promise<never>;
  };
  const ready = answerOf(0);
  return {
    async client(): Promise<ElsewhereClient> {
      const capabilities = (await ready) as StoreCapabilities;
      const close = (): Promise<void> => ask("close");
      return {
        capabilities,
        getMessages: (id, { known } = {}) => ask("getMessages", id, { known }),
        updateMessages: (id, update) => ask("updateMessages", id, update),
        deleteMessages: (id, { expected } = {}) => ask("deleteMessages", id, { expected }),
        getHistory: (id, query) => ask("getHistory", id, query),
        listMemories: (query) => ask("listMemories", query),
        sweep: () => ask("sweep"),
        appendMany: (id, count, name) => ask("appendMany", id, count, name),
        close,
        [Symbol.asyncDispose]: close,
      };
    },
    end: (): Promise<void> => ask("close"),
    async stop(): Promise<void> {
      await worker.terminate();
    },
  };
}

function errorOf({ code, message }: { readonly code: string | undefined; readonly message: string }): Error {
  return code === undefined ? new Error(message) : new TurnkeepError(code as TurnkeepErrorCode, message);
}
