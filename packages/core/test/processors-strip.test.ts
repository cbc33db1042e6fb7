import { describe, expect, test } from "vitest";
import {
  assistant,
  type MessageFormat,
  type ModelMessage,
  type ModelMessageLike,
  modelMessageFormat,
  system,
  user,
} from "../src/index.ts";
import { applyProcessors, stripMedia, stripReasoning } from "../src/processors.ts";
import {
  call,
  file,
  image,
  assistant as parts,
  result,
  text,
  thought,
  thoughtFile,
  tool,
  userParts,
} from "./format-parts.ts";

const picture = {
  type: "content",
  value: [
    { type: "text", text: "seen" },
    { ...file, type: "file-data" },
  ],
};

describe("stripMedia", () => {
  test("leaves out images and files, of results too", async () => {
    const messages = [
      system("s"),
      userParts(text, image),
      parts(thoughtFile, text, file, call("1")),
      tool(result("1", picture)),
    ];
    expect(await applyProcessors(messages, [stripMedia()])).toEqual([
      system("s"),
      userParts(text),
      parts(text, call("1")),
      tool(result("1", { type: "content", value: [{ type: "text", text: "seen" }] })),
    ]);
  });

  test("puts a text in the place of a message that held nothing else", async () => {
    const messages = [userParts(image), parts(file), parts(thoughtFile, call("1")), tool(result("1"))];
    expect(await applyProcessors(messages, [stripMedia()])).toEqual([
      user("[media left out]"),
      assistant("[media left out]"),
      parts(call("1")),
      tool(result("1")),
    ]);
    const [shown] = await applyProcessors(messages.slice(0, 1), [stripMedia({ placeholder: "(image)" })]);
    expect(shown).toEqual(user("(image)"));
    const { textMessage: _, ...bare } = modelMessageFormat;
    expect(await applyProcessors(messages.slice(0, 2), [stripMedia()], { format: bare })).toEqual([]);
  });

  test("keeps those of the newest steps that have any", async () => {
    const messages: ModelMessageLike[] = [
      userParts(text, image),
      assistant("a"),
      parts(call("1")),
      tool(result("1", picture)),
      userParts(text, image),
      assistant("b"),
    ];
    const shown = await applyProcessors(messages, [stripMedia({ keepLastSteps: 2 })]);
    expect(shown).toEqual([userParts(text), ...messages.slice(1)]);
    expect(await applyProcessors(messages, [stripMedia({ keepLastSteps: 3 })])).toEqual(messages);
  });

  test.each<[string, unknown]>([
    ["a negative number of steps", { keepLastSteps: -1 }],
    ["an empty text in place of media", { placeholder: " " }],
    ["no text in place of media", { placeholder: null }],
    ["options that are none", null],
  ])("refuses %s", (_, options) => {
    expect(() => stripMedia(options as never)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });
});

describe("stripReasoning", () => {
  const messages: ModelMessageLike[] = [
    user("a"),
    parts(thought, call("1")),
    tool(result("1")),
    parts(thought),
    user("b"),
    parts(thought, thoughtFile, text),
  ];

  test("leaves out all reasoning, and messages of nothing else", async () => {
    expect(await applyProcessors(messages, [stripReasoning()])).toEqual([
      user("a"),
      parts(call("1")),
      tool(result("1")),
      user("b"),
      parts(text),
    ]);
  });

  test("keeps that of the newest steps that have any", async () => {
    expect(await applyProcessors(messages, [stripReasoning({ keepLastSteps: 2 })])).toEqual([
      user("a"),
      parts(call("1")),
      ...messages.slice(2),
    ]);
  });

  test("refuses a number of steps that is none", () => {
    for (const keepLastSteps of [-1, 1.5, "2", null]) {
      const options = { keepLastSteps } as never;
      expect(() => stripReasoning(options)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    }
  });
});

test("what depends on each message alone says so, and answers the same objects for the same messages", async () => {
  for (const make of [stripMedia, stripReasoning]) {
    expect(make().eachAlone).toBe(true);
    expect(make({ keepLastSteps: 1 }).eachAlone).toBe(false);
    const frozen = Object.freeze(
      parts(Object.freeze(thought), Object.freeze({ ...file }), Object.freeze({ ...text })),
    );
    Object.freeze(frozen.content);
    const processor = make();
    const context = {
      format: modelMessageFormat as MessageFormat<ModelMessageLike>,
      signal: new AbortController().signal,
    };
    const first = processor.process([frozen], context);
    expect(first[0]).not.toBe(frozen);
    expect(processor.process([frozen], context)[0]).toBe(first[0]);
  }
  const plain: ModelMessage[] = [user("a")];
  expect((await applyProcessors(plain, [stripMedia(), stripReasoning()]))[0]).toBe(plain[0]);
});

test("reasoning goes with the ids of the items that it led to, by which OpenAI's API would ask for it", async () => {
  const of = (itemId: string, more: object = {}): object => ({
    providerOptions: { openai: { itemId, ...more } },
  });
  const bound = (...content: object[]): ModelMessage =>
    ({ role: "assistant", content }) as unknown as ModelMessage;
  const custom = { type: "custom", kind: "openai.compaction", ...of("cmp_1") };
  const other = { ...text, providerOptions: { openai: { itemId: "msg_1" }, anthropic: null } };
  const messages = [
    bound(
      custom,
      { ...thought, ...of("rs_1") },
      { ...text, ...of("msg_1", { phase: "final" }) },
      {
        ...call("1"),
        ...of("fc_1"),
      },
    ),
    tool(result("1")),
    bound({ ...text, ...of("msg_2") }),
    bound(thought, other, text),
  ];
  expect(await applyProcessors(messages, [stripReasoning()])).toEqual([
    bound(
      custom,
      { ...text, providerOptions: { openai: { phase: "final" } } },
      {
        ...call("1"),
        providerOptions: { openai: {} },
      },
    ),
    messages[1],
    messages[2],
    bound({ ...text, providerOptions: { openai: {}, anthropic: {} } }, text),
  ]);
});
