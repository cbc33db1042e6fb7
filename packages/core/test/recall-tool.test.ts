import { describe, expect, test } from "vitest";
import {
  assistant,
  type ChatMemory,
  createChatMemory,
  entry,
  inMemoryStore,
  type ModelMessage,
  recallTool,
  type TokenCounter,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { redact, truncateToolResults } from "../src/processors.ts";
import { withoutHistory } from "./without-history.ts";

interface Answer {
  readonly found: readonly {
    readonly id: string;
    readonly role: string;
    readonly at: string;
    readonly said: string;
  }[];
  readonly searched: number;
  readonly before?: number;
}

const note = "[recalled from the earlier conversation]";

async function recalled(
  memory: ChatMemory<never>,
  input: Record<string, unknown>,
  options?: Parameters<typeof recallTool>[1],
): Promise<Answer> {
  const text = await recallTool(memory, options).execute(input);
  const answer = JSON.parse(text) as Answer & { readonly note: string };
  expect(answer.note).toBe(note);
  return answer;
}

const shortMemory = (): ChatMemory<never> =>
  createChatMemory({ id: "chat", store: inMemoryStore(), window: { maxMessages: 1 } }) as never;
const add = (memory: ChatMemory<never>, ...messages: unknown[]): Promise<string[]> =>
  memory.add(...(messages as never[]));
const saidIn = ({ found }: Answer): string[] => found.map(({ said }) => said);

describe("recallTool", () => {
  test("finds words in what has left, the best match first, then the newest", async () => {
    const memory = shortMemory();
    await add(
      memory,
      entry(user("My SISTER lives in Bergen."), { id: "a", createdAt: 0 }),
      assistant("Noted: your sister."),
      user("The weather in Bergen?"),
      assistant("Rain."),
      user("Sister in Bergen again, still shown"),
    );
    const answer = await recalled(memory, { query: "sister, BERGEN" });
    expect(saidIn(answer)).toEqual([
      "My SISTER lives in Bergen.",
      "The weather in Bergen?",
      "Noted: your sister.",
    ]);
    expect(answer.found[0]).toMatchObject({ id: "a", role: "user", at: "1970-01-01T00:00:00.000Z" });
    expect(answer).toMatchObject({ searched: 4 });
    expect(answer).not.toHaveProperty("before");
    expect(saidIn(await recalled(memory, { query: "Oslo" }))).toEqual([]);
  });

  test("finds nothing that was edited, regenerated or removed", async () => {
    const memory = shortMemory();
    const [first = "", second = ""] = await add(memory, user("secret one"), user("secret two"));
    await memory.rewind(second);
    await add(memory, user("another"), user("shown"));
    await memory.remove(first);
    expect(saidIn(await recalled(memory, { query: "secret" }))).toEqual([]);
  });

  test("looks at a bounded number of messages, and goes on where it ended", async () => {
    const memory = shortMemory();
    await add(memory, ...Array.from({ length: 30 }, (_, index) => user(`apple ${index}`)));
    const first = await recalled(memory, { query: "apple" }, { maxSearched: 10 });
    expect(first.searched).toBe(10);
    expect(saidIn(first)).toEqual(["apple 28", "apple 27", "apple 26", "apple 25", "apple 24"]);
    const next = await recalled(memory, { query: "apple", before: first.before }, { maxSearched: 10 });
    expect(saidIn(next)[0]).toBe("apple 18");
  });

  test("keeps to its length, cuts around what was found, and never within a character", async () => {
    const memory = shortMemory();
    const long = `${"🙂".repeat(5000)}needle${'"\n\u0001'.repeat(5000)}`;
    const ids = await add(memory, ...Array.from({ length: 8 }, () => user(long)), user("shown"));
    for (const maxCharacters of [500, 700, 1500]) {
      for (const input of [{ query: "needle" }, { id: ids[3] }]) {
        const text = await recallTool(memory, { maxCharacters }).execute(input);
        expect(text.length).toBeLessThanOrEqual(maxCharacters);
        expect(text).not.toMatch(/\p{Surrogate}/u);
        if ("query" in input) expect(text).toContain("needle");
      }
    }
  });

  test("shows one message whole with what stood around it", async () => {
    const memory = shortMemory();
    const ids = await add(
      memory,
      ...["a", "b", "c", "d", "e", "f", "g"].map((text) => user(text.repeat(50))),
    );
    const answer = await recalled(memory, { id: ids[3] });
    expect(saidIn(answer)).toEqual(["b", "c", "d", "e", "f"].map((text) => text.repeat(50)));
    expect(await recalled(memory, { id: "no such" })).toEqual({ note, found: [] });
  });

  test("never finds its own answers, nor the calls for them, again", async () => {
    const memory = shortMemory();
    await add(memory, user("My sister lives in Bergen."), user("Where does she live?"));
    const input = { query: "sister" };
    const answer = await recallTool(memory).execute(input);
    await add(
      memory,
      assistant([
        { type: "text", text: "Let me see about your sister." },
        { type: "tool-call", toolCallId: "r", toolName: "recall", input },
      ]),
      toolResult("r", "recall", answer),
      assistant("In Bergen."),
      toolCall("w", "weather", { of: "sister" }),
      toolResult("w", "weather", "sister: rain"),
      user("Thanks"),
    );
    const again = await recalled(memory, input);
    expect(saidIn(again)).toEqual([
      "sister: rain",
      '{"of":"sister"}',
      "Let me see about your sister.",
      "My sister lives in Bergen.",
    ]);
    const call = again.found[2]?.id;
    expect(saidIn(await recalled(memory, { id: call })).join("\n")).not.toContain("recalled");
  });

  test("finds what another tool said under an id that a recall has, too", async () => {
    const memory = shortMemory();
    await add(
      memory,
      user("Weather?"),
      toolCall("0", "weather", {}),
      toolResult("0", "weather", "A hailstorm in Bergen"),
      assistant("Hail."),
      toolCall("0", "recall", { query: "hail" }),
      toolResult("0", "recall", JSON.stringify({ note, found: [{ said: "A hailstorm of old" }] })),
      user("Thanks."),
      user("And now?"),
    );
    expect(saidIn(await recalled(memory, { query: "hailstorm" }))).toEqual(["A hailstorm in Bergen"]);
  });

  test("neither shows nor finds what the memory hides, and shows whole what it only shortens", async () => {
    const long = `start ${"a ".repeat(400)}end`;
    const counter: TokenCounter = {
      name: "characters",
      count: (message, format) =>
        format
          .pieces(message)
          .reduce((sum, piece) => sum + (piece.type === "text" ? piece.text.length : 0), 0),
    };
    const memory = createChatMemory<ModelMessage>({
      window: { maxMessages: 1 },
      processors: [
        redact({ patterns: [/"password":"[^"]*"/, /^key: .*$/m, /\bsk-\w{20,}/] }),
        truncateToolResults({ maxTokens: 100, counter }),
        {
          name: "without-sisters",
          eachAlone: true,
          process: (messages) => messages.filter((message) => !JSON.stringify(message).includes("sister")),
        },
      ],
    });
    const key = `sk-${"0123456789".repeat(3)}`;
    await memory.add(
      user('{"password":"hunter2"} of Bergen'),
      user("Bergen\nkey: value"),
      user(`Bergen ${"b ".repeat(300)}${key} ${"c ".repeat(300)}`),
      user("My sister lives in Bergen."),
      toolCall("1", "look", {}),
      toolResult("1", "look", long),
      user("And now?"),
      user("shown"),
    );
    const { found } = await recalled(memory as never, { query: "Bergen hunter2 value sister" });
    const texts = found.map(({ said }) => said).join("\n");
    expect(found).toHaveLength(3);
    for (const secret of ["hunter2", "value", "sk-", "sister"]) expect(texts).not.toContain(secret);
    expect((await recalled(memory as never, { query: key })).found.map(({ said }) => said)).toEqual([]);
    const [result] = (await recalled(memory as never, { query: "start" })).found;
    expect(result?.said).toBe(long);
  });

  test("finds no call of its own where a processor hides what was recalled", async () => {
    const memory = createChatMemory<ModelMessage>({
      window: { maxMessages: 1 },
      processors: [redact({ change: (text, of) => (of === "tool-result" ? "[hidden]" : text) })],
    });
    await memory.add(
      toolCall("r", "recall", { query: "hailstorm" }),
      toolResult("r", "recall", JSON.stringify({ note, found: [] })),
      user("x"),
      user("y"),
    );
    expect(saidIn(await recalled(memory as never, { query: "hailstorm" }))).toEqual([]);
  });

  test("answers a model that asks wrongly in words, and fails where no history is kept", async () => {
    const memory = shortMemory();
    for (const input of [{}, { query: "" }, { query: "?!" }, { query: 7 }, { id: "" }, undefined]) {
      expect(await recallTool(memory).execute(input as never)).toBe(
        JSON.stringify({ note, error: "Nothing was asked for: give query, some words, or id." }),
      );
    }
    for (const id of ["x".repeat(300), "a\0"])
      expect(await recallTool(memory).execute({ id })).toBe(JSON.stringify({ note, found: [] }));
    expect(await recalled(memory, { query: "a", before: -1 })).toMatchObject({ found: [] });
    const without = createChatMemory({ id: "a", store: withoutHistory() });
    await expect(recallTool(without).execute({ query: "a" })).rejects.toMatchObject({ code: "UNSUPPORTED" });
    await expect(
      recallTool(memory).execute({ query: "a" }, { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({
      code: "ABORTED",
    });
  });

  test("refuses options that it cannot keep", () => {
    const memory = shortMemory();
    expect(() => recallTool(memory, { maxCharacters: 10 })).toThrow("maxCharacters");
    expect(() => recallTool(memory, { maxSearched: 0 })).toThrow("maxSearched");
    expect(() => recallTool(undefined as never)).toThrow("recallTool's memory");
  });
});
