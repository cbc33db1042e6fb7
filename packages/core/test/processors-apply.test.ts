import { describe, expect, test } from "vitest";
import {
  assistant,
  createChatMemory,
  decodePayload,
  encodePayload,
  isTurnkeepError,
  type MessageFormat,
  type ModelMessage,
  system,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { applyProcessors, type Processor, processorOf, toolCallFilter } from "../src/processors.ts";
import { vectorFormat } from "./vector-format.ts";

const conversation = (): ModelMessage[] => [
  system("Be brief."),
  user([{ type: "text", text: "Weather?" }]),
  toolCall("call-1", "weather", { place: { city: "Oslo" } }),
  toolResult("call-1", "weather", { sky: ["blue"] }),
];

/** What a careless processor sees: everything may be changed. */
// biome-ignore lint/suspicious/noExplicitAny: that is what it is about
type Careless = any;

const named = (name: string, process: Processor<ModelMessage>["process"]): Processor<ModelMessage> => ({
  name,
  process,
});
const same = named("same", (messages) => messages);

describe("what a processor is given cannot be changed", () => {
  test.each<[string, (messages: Careless) => void]>([
    ["adds a message", (messages) => messages.push(user("more"))],
    ["removes a message", (messages) => messages.pop()],
    ["sorts", (messages) => messages.reverse()],
    ["empties the array", (messages) => messages.splice(0)],
    ["shortens the array", (messages) => Object.assign(messages, { length: 1 })],
    ["replaces a message", (messages) => Object.assign(messages, { 0: user("other") })],
    ["changes a message", (messages) => Object.assign(messages[0], { content: "other" })],
    ["adds a member to a message", (messages) => Object.assign(messages[0], { seen: true })],
    ["defines a member", (messages) => Object.defineProperty(messages[0], "content", { get: () => "" })],
    ["adds a part", (messages) => messages[1].content.push({ type: "text", text: "more" })],
    ["changes a part", (messages) => Object.assign(messages[1].content[0], { text: "other" })],
    [
      "changes a nested member",
      (messages) => Object.assign(messages[2].content[0].input.place, { city: "" }),
    ],
    ["adds to a nested list", (messages) => messages[3].content[0].output.value.sky.push("grey")],
    [
      "removes a nested member",
      (messages) => {
        delete messages[3].content[0].output.value;
      },
    ],
  ])("one that %s gets an error that names it", async (_, mutate) => {
    const careless = named("careless", (messages) => {
      mutate(messages);
      return messages;
    });
    const messages = conversation();
    const error: unknown = await applyProcessors(messages, [same, careless]).catch(
      (caught: unknown) => caught,
    );
    expect(error).toMatchObject({ code: "INVALID_OPTION", cause: expect.any(TypeError) as unknown });
    expect((error as Error).message).toMatch(/^The processor "careless" tried to change what it was given/);
    expect((error as Error).message).not.toMatch(/Oslo|blue|Weather/);
    expect(processorOf(error)).toBe("careless");
    expect(messages).toEqual(conversation());
  });

  test("nor what another processor made, or one that answers later", async () => {
    const adding = named("adding", (messages) => [...messages, assistant([{ type: "text", text: "Blue." }])]);
    const careless = named("careless", async (messages: Careless) => {
      await Promise.resolve();
      messages.at(-1).content[0].text = "Grey.";
      return messages;
    });
    const run = applyProcessors(conversation(), [adding, careless]);
    await expect(run).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });

  test("also where a message is an instance of a class", async () => {
    class Said {
      readonly role = "user";
      #text: string;
      tags: string[] = [];
      constructor(text: string) {
        this.#text = text;
      }
      get text(): string {
        return this.#text;
      }
    }
    const saidFormat = {
      ...vectorFormat,
      name: "said",
      role: () => "user",
      encode: (said: Said) => encodePayload("said", 1, said.text),
      decode: (text: string) => new Said(decodePayload(text, "said", 1) as string),
    } as unknown as MessageFormat<Said>;
    const said = new Said("Hello");
    const tagging: Processor<Said> = {
      name: "tagging",
      process: (messages) => {
        messages[0]?.tags.push("seen");
        return messages;
      },
    };
    await expect(applyProcessors([said], [tagging], { format: saidFormat })).rejects.toMatchObject({
      code: "INVALID_OPTION",
    });
    expect(said.tags).toEqual([]);
    const reading: Processor<Said> = { name: "reading", process: (all) => all.filter(({ text }) => text) };
    const [shown] = await applyProcessors([said], [reading], { format: saidFormat });
    expect(shown).toBe(said);
  });
});

describe("applyProcessors", () => {
  test("runs processors in their order, each on what the one before answered", async () => {
    const tagging = (tag: string): Processor<ModelMessage> =>
      named(tag, async (messages) => [...messages, assistant(tag)]);
    const shown = await applyProcessors<ModelMessage>(
      [user("a")],
      [tagging("b"), tagging("c"), tagging("d")],
    );
    expect(shown.map(({ content }) => content)).toEqual(["a", "b", "c", "d"]);
  });

  test("answers the caller's own messages where nothing changed, and freezes none of them", async () => {
    const messages = conversation();
    const reminder = assistant([{ type: "text", text: "Remember." }]);
    const adding = named("adding", (all) => [...all, reminder]);
    const shown = await applyProcessors(messages, [same, adding]);
    expect(shown.slice(0, -1).every((message, index) => message === messages[index])).toBe(true);
    expect([...messages, reminder].some((message) => Object.isFrozen(message))).toBe(false);
    expect(messages.some(({ content }) => typeof content === "object" && Object.isFrozen(content))).toBe(
      false,
    );
    const last = shown.at(-1);
    expect(last).toEqual(reminder);
    expect(Object.isFrozen(last) && Object.isFrozen(last?.content[0])).toBe(true);
    shown.pop();
    expect(await applyProcessors(messages, [])).not.toBe(messages);
    expect(await applyProcessors(messages, [])).toEqual(messages);
  });

  test("copies nothing that is frozen already, such as a memory's messages", async () => {
    const memory = createChatMemory();
    await memory.add(...conversation());
    const view = await memory.messages();
    const seen: ModelMessage[] = [];
    const seeing = named("seeing", (messages) => {
      seen.push(...messages);
      return messages;
    });
    await applyProcessors(view, [seeing]);
    expect(seen.every((message, index) => message === view[index])).toBe(true);
    expect(seen).toHaveLength(view.length);
  });

  test("hands on what JSON does not know as it is: bytes, dates, addresses, strange keys", async () => {
    const input = JSON.parse('{"__proto__": {"polluted": true}, "when": 0}') as Record<string, unknown>;
    input.when = new Date(0);
    const bytes = new Uint8Array([1, 2]);
    const messages: ModelMessage[] = [
      user([{ type: "file", data: new URL("https://example.com/a"), mediaType: "image/png" }]),
      user([{ type: "image", image: bytes }]),
      toolCall("call-1", "t", input),
    ];
    let seen: Careless;
    const seeing = named("seeing", (all) => {
      seen = all;
      return all;
    });
    await applyProcessors(messages, [seeing]);
    expect(seen).toEqual(messages);
    expect(seen[0].content[0].data).toBeInstanceOf(URL);
    expect(seen[1].content[0].image).toBe(bytes);
    expect(Object.keys(seen[2].content[0].input)).toEqual(["__proto__", "when"]);
    expect(seen[2].content[0].input.polluted).toBeUndefined();
    expect(seen[2].content[0].input.when).toEqual(new Date(0));
  });

  test.each<[string, unknown, string]>([
    ["nothing", undefined, "undefined in place of an array"],
    ["an object", {}, "an object in place of an array"],
    ["a text", "messages", "a string in place of an array"],
    ["a list with null", [null], "null in place of a message, at index 0"],
    [
      "a list with a hole",
      Object.assign(Array(3), { 0: user("a"), 2: user("b") }),
      "undefined in place of a message, at index 1",
    ],
    ["a list with a text", ["a"], "a string in place of a message, at index 0"],
    ["an unknown role", [{ role: "x", content: "a" }], "an object in place of a message, at index 0"],
    ["a message without content", [{ role: "user" }], "an object in place of a message, at index 0"],
    ["a frozen one too", [Object.freeze({ role: "user" })], "an object in place of a message, at index 0"],
  ])("says whose answer is wrong: %s", async (_, answer, what) => {
    const wrong = named("wrong", () => answer as ModelMessage[]);
    const error: unknown = await applyProcessors<ModelMessage>([user("a")], [wrong]).catch(
      (caught: unknown) => caught,
    );
    expect(error).toMatchObject({ code: "INVALID_OPTION" });
    expect((error as Error).message).toContain(`The processor "wrong" answered ${what}`);
    expect(processorOf(error)).toBe("wrong");
  });

  test("passes on what a processor throws itself, and knows whose it was", async () => {
    const own = new TypeError("Cannot read properties of undefined (reading 'text')");
    const throwing = named("throwing", () => {
      throw own;
    });
    await expect(applyProcessors<ModelMessage>([user("a")], [same, throwing])).rejects.toBe(own);
    expect(processorOf(own)).toBe("throwing");
    expect(processorOf(new Error("other"))).toBeUndefined();
    expect(processorOf("a text")).toBeUndefined();
    for (const thrown of ["a text", null]) {
      const odd = named("odd", () => {
        throw thrown;
      });
      await expect(applyProcessors<ModelMessage>([user("a")], [odd])).rejects.toBe(thrown);
    }
  });

  test.each<[string, unknown]>([
    ["no array", toolCallFilter()],
    ["something that is no processor", [null]],
    ["one without a name", [{ process: () => [] }]],
    ["one with an empty name", [{ name: "", process: () => [] }]],
    ["one that cannot process", [{ name: "lame" }]],
  ])("refuses %s", async (_, processors) => {
    await expect(applyProcessors([user("a")], processors as never)).rejects.toMatchObject({
      code: "INVALID_OPTION",
    });
  });

  test("ends with the signal: before, between and while a processor waits", async () => {
    const aborted = AbortSignal.abort(new Error("enough"));
    await expect(
      applyProcessors<ModelMessage>([user("a")], [same], { signal: aborted }),
    ).rejects.toMatchObject({
      code: "ABORTED",
    });
    for (const listens of [true, false]) {
      const controller = new AbortController();
      let later = false;
      const waiting = named("waiting", (_, { signal }) => {
        const answer = new Promise<never>((_resolve, reject) => {
          if (listens) signal.addEventListener("abort", () => reject(signal.reason as Error));
        });
        controller.abort();
        return answer;
      });
      const next = named("next", (messages) => {
        later = true;
        return messages;
      });
      const run = applyProcessors<ModelMessage>([user("a")], [waiting, next], { signal: controller.signal });
      const error: unknown = await run.catch((caught: unknown) => caught);
      expect(isTurnkeepError(error, "ABORTED")).toBe(true);
      expect(later).toBe(false);
    }
  });
});
