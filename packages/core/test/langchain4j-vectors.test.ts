import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type ChatMemory, createChatMemory, inMemoryStore, type WindowOptions } from "../src/index.ts";
import { differencesOnPurpose } from "./langchain4j-differences.ts";
import { type VectorMessage, vectorCounter, vectorFormat } from "./vector-format.ts";

interface Options {
  readonly kind: "message" | "token";
  readonly maxMessages?: number | null;
  readonly maxTokens?: number | null;
  readonly dynamic?: number | null;
  readonly limits?: readonly (number | null)[];
  readonly alwaysKeepSystemMessageFirst?: boolean | null;
  readonly initialStore?: readonly number[];
  readonly listOverhead?: number;
}

interface Step {
  readonly op: string;
  readonly message?: number | null;
  readonly messages?: readonly (number | null)[] | null;
  readonly outer?: number;
  readonly inner?: number;
  readonly value?: number | null;
  readonly options?: Options;
  readonly expect: Expectation;
}

interface Expectation {
  readonly error?: unknown;
  readonly messages?: readonly (number | null)[];
  readonly messagesError?: unknown;
  readonly store?: readonly (number | null)[];
}

interface Case {
  readonly name: string;
  readonly options: Options;
  readonly pool: readonly VectorMessage[];
  readonly construct: Expectation;
  readonly steps?: readonly Step[];
}

function load(kind: string): Case[] {
  const text = readFileSync(new URL(`./vectors/langchain4j-window-${kind}.json`, import.meta.url), "utf8");
  return (JSON.parse(text) as { cases: Case[] }).cases;
}

/** Runs one recorded case; throws at the first difference. */
async function run(vector: Case): Promise<void> {
  const store = inMemoryStore();
  const limit = { value: vector.options.dynamic };
  const questions = { asked: 0 };
  const open = (options: Options): ChatMemory<VectorMessage> => {
    const fixed = options.kind === "message" ? options.maxMessages : options.maxTokens;
    const { limits } = options;
    const ask =
      limits !== undefined ? () => limits[Math.min(questions.asked++, limits.length - 1)] : () => limit.value;
    const max = (fixed === undefined ? ask : fixed) as number;
    const window: WindowOptions<VectorMessage> =
      options.kind === "message"
        ? { unit: "message", maxMessages: max }
        : { unit: "message", maxTokens: max, counter: vectorCounter(options.listOverhead ?? 0) };
    const systemFirst = options.alwaysKeepSystemMessageFirst ?? undefined;
    return createChatMemory({ format: vectorFormat, id: "vector", store, window, systemFirst });
  };
  /** Sees and writes what is stored, without a window of its own. */
  const outside = createChatMemory({
    format: vectorFormat,
    id: "vector",
    store,
    window: { unit: "message", maxMessages: 1_000_000 },
  });
  const at = (index: number | null): VectorMessage =>
    index === null ? null : (vector.pool[index] as VectorMessage);
  const compare = async (
    expected: Expectation,
    memory: ChatMemory<VectorMessage>,
    where: string,
  ): Promise<void> => {
    if (expected.messagesError !== undefined) await expect(memory.messages(), where).rejects.toThrow();
    else expect(await memory.messages(), where).toEqual((expected.messages ?? []).map(at));
    if (expected.store !== undefined)
      expect(await outside.messages(), `${where}, store`).toEqual(expected.store.map(at));
  };
  if (vector.options.initialStore !== undefined) await outside.set(vector.options.initialStore.map(at));
  if (vector.construct.error !== undefined) {
    await expect(async () => open(vector.options).messages()).rejects.toMatchObject({
      code: "INVALID_OPTION",
    });
    return;
  }
  let memory = open(vector.options);
  await compare(vector.construct, memory, "construct");
  for (const [index, step] of (vector.steps ?? []).entries()) {
    const where = `step ${index} (${step.op})`;
    const messages = step.messages?.map(at) ?? (step.op === "addAll" ? [] : (null as never));
    const act = async (): Promise<unknown> => {
      switch (step.op) {
        case "add":
          return memory.add(at(step.message ?? null));
        case "addAll":
          return memory.add(...messages);
        case "set":
          if (messages.length > 0) return memory.set(messages);
          // An empty list is an error here, whoever calls; clear() says what is meant.
          await expect(memory.set(messages), where).rejects.toMatchObject({ code: "INVALID_OPTION" });
          return memory.clear();
        case "setVarargs":
          return memory.set(messages);
        case "clear":
          return memory.clear();
        case "limit":
          limit.value = step.value;
          return;
        case "read":
          return;
        case "storeUpdate":
          await outside.messages();
          return outside.set(messages);
        case "reopen":
          memory = open(step.options ?? vector.options);
          return;
        case "race":
          return Promise.all([memory.add(at(step.outer ?? null)), memory.add(at(step.inner ?? null))]);
        default:
          throw new Error(`unknown operation ${step.op}`);
      }
    };
    if (step.expect.error === undefined) await act();
    else await expect(act(), where).rejects.toThrow();
    await compare(step.expect, memory, where);
  }
}

describe.each(["message", "token"])("LangChain4j 1.19.0, recorded %s windows", (kind) => {
  const cases = load(kind);
  const reasons = differencesOnPurpose(kind);

  test.each(cases.filter(({ name }) => !reasons.has(name)).map((vector) => [vector.name, vector] as const))(
    "%s",
    async (_name, vector) => run(vector),
  );

  test.each(cases.filter(({ name }) => reasons.has(name)).map((vector) => [vector.name, vector] as const))(
    "differs on purpose: %s",
    async (_name, vector) => {
      await expect(run(vector)).rejects.toThrow();
    },
  );

  test("every difference names a recorded case", () => {
    const names = new Set(cases.map(({ name }) => name));
    expect([...reasons.keys()].filter((name) => !names.has(name))).toEqual([]);
  });
});
