import { readFileSync } from "node:fs";
import { isTurnkeepError } from "@turnkeep/core";
import { describe, expect, test } from "vitest";
import { type ChatResult, isAssistantError } from "../src/index.ts";
import { differencesOnPurpose } from "./langchain4j-differences.ts";
import { type Options, Scenario, type ScriptedAnswer, type SeenRequest } from "./langchain4j-scenario.ts";
import type { VectorMessage } from "./vector-messages.ts";

interface RecordedError {
  readonly class: string;
  readonly message: string;
}

interface Expectation {
  readonly text?: string | null;
  readonly result?: unknown;
  readonly events?: readonly ({ readonly complete: string | null } | { readonly error: RecordedError })[];
  readonly notStarted?: boolean;
  readonly error?: RecordedError;
  readonly requests: readonly SeenRequest[];
  readonly toolRuns: readonly Record<string, unknown>[];
  readonly memory?: Readonly<Record<string, readonly VectorMessage[]>>;
}

interface Call {
  readonly op: string;
  readonly user?: string;
  readonly memoryId?: string;
  readonly start?: boolean;
  readonly expect: Expectation;
}

interface Case {
  readonly name: string;
  readonly options: Options;
  readonly model: readonly ScriptedAnswer[];
  readonly calls: readonly Call[];
}

const file = new URL("./vectors/langchain4j-assistant.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: Case[] };

/** Runs one recorded case; throws at the first difference. */
async function run({ options, model, calls }: Case): Promise<void> {
  const scenario = new Scenario(options, model);
  for (const [index, call] of calls.entries()) {
    const where = `call ${index} (${call.op})`;
    const { expect: expected, memoryId = "default" } = call;
    if (call.op !== "chat") throw new Error(`${where}: an assistant has no such operation`);
    scenario.requests.length = 0;
    scenario.toolRuns.length = 0;
    await (options.mode === "streaming" ? compareStream : compareChat)(
      scenario,
      call,
      memoryId,
      options,
      where,
    );
    expect(scenario.requests, `${where}, requests`).toEqual(expected.requests);
    const runs = scenario.toolRuns;
    if (options.executeToolsConcurrently === true) {
      runs.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    }
    expect(runs, `${where}, tools`).toEqual(expected.toolRuns);
    for (const [id, messages] of Object.entries(expected.memory ?? {})) {
      expect(await scenario.memory(id), `${where}, memory ${id}`).toEqual(messages);
    }
  }
}

async function compareChat(
  scenario: Scenario,
  { user = "", expect: expected }: Call,
  memoryId: string,
  options: Options,
  where: string,
): Promise<void> {
  const chat = scenario.chat(user, memoryId);
  if (expected.error !== undefined) {
    compareError(
      await chat.then(
        () => undefined,
        (error: unknown) => error,
      ),
      expected.error,
      where,
    );
    return;
  }
  const result = await chat.catch((error) => {
    throw isTurnkeepError(error)
      ? new Error(`${where}: ${error.code}: ${error.message}`, { cause: error })
      : error;
  });
  if (options.resultType === "result") expect(resultObject(result), where).toEqual(expected.result);
  else expect(plainText(result, options), where).toBe(expected.text ?? null);
}

async function compareStream(
  scenario: Scenario,
  { user = "", start = true, expect: expected }: Call,
  memoryId: string,
  _options: Options,
  where: string,
): Promise<void> {
  const stream = scenario.stream(user, memoryId);
  if (!start) return;
  const [event] = expected.events ?? [];
  let complete: string | null | undefined;
  let failure: unknown;
  try {
    for await (const each of stream) if (each.type === "finish") complete = each.result.text || null;
  } catch (error) {
    failure = error;
  }
  if (event === undefined) throw new Error(`${where}: nothing is expected of the stream`);
  if ("error" in event) compareError(failure, event.error, where);
  else expect(complete ?? failure, where).toBe(event.complete);
}

/** The library's own errors by the code that stands for them here; those of the scripts as they are. */
const codes: readonly (readonly [RegExp, string])[] = [
  [/tool calling round trips/, "TOO_MANY_ROUND_TRIPS"],
  [/no such tool exists/, "UNKNOWN_TOOL"],
  [/messages cannot be null or empty/, "WINDOW_OVERFLOW"],
  [/jackson/, "INVALID_TOOL_INPUT"],
];

function compareError(error: unknown, expected: RecordedError, where: string): void {
  expect(error, where).toBeInstanceOf(Error);
  const code = codes.find(([sign]) => sign.test(expected.message))?.[1];
  if (code === undefined) expect((error as Error).message, where).toBe(expected.message);
  else if (isAssistantError(error) || isTurnkeepError(error)) expect(error.code, where).toBe(code);
  else throw error;
}

function resultObject({ text, finishReason, toolResults, messages }: ChatResult<VectorMessage>): unknown {
  return {
    content: finishReason === "tool" ? null : text || null,
    finishReason: finishReason === "tool" ? "TOOL_EXECUTION" : null,
    toolExecutions: toolResults.map(({ toolName: name, output: result, isError: failed }) => ({
      name,
      result,
      failed,
    })),
    intermediateResponses: messages.length - 1,
  };
}

/**
 * What a caller who wants text gets of an immediate return: the model's own text if any tool of the chat was one for the
 * model, else the one object behind the results; only typed tools have one.
 */
function plainText(result: ChatResult<VectorMessage>, { tools = [] }: Options): string | null {
  const toolOf = (name: string) => tools.find((tool) => tool.name === name);
  const forModel = result.toolResults.some(
    ({ toolName }) => (toolOf(toolName)?.returnBehavior ?? "TO_LLM") === "TO_LLM",
  );
  if (result.finishReason === "stop" || forModel) return result.text || null;
  const [typed] = result.toolResults.filter(({ toolName }) => toolOf(toolName)?.typed !== undefined);
  return typed === undefined ? null : (typed.output as string);
}

describe("LangChain4j 1.19.0, recorded AI services", () => {
  const alike = cases.filter(({ name }) => !differencesOnPurpose.has(name));
  const different = cases.filter(({ name }) => differencesOnPurpose.has(name));

  test.each(alike.map((vector) => [vector.name, vector] as const))("%s", (_name, vector) => run(vector));

  test.each(different.map((vector) => [vector.name, vector] as const))(
    "differs on purpose: %s",
    async (name, vector) => {
      const { at } = differencesOnPurpose.get(name) ?? {};
      await expect(run(vector)).rejects.toThrow(`${at}:`);
    },
  );

  test("every difference names a recorded case", () => {
    const names = new Set(cases.map(({ name }) => name));
    expect([...differencesOnPurpose.keys()].filter((name) => !names.has(name))).toEqual([]);
  });
});
