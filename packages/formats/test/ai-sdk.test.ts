import { createChatMemory, entry, inMemoryStore, isTurnkeepError } from "@turnkeep/core";
import { convertToModelMessages, type UIMessage } from "ai7";
import { describe, expect, it } from "vitest";
import { uiMessageConversion, uiMessageFormat } from "../src/ai-sdk.ts";
import { convert, modelMessageConversion } from "../src/convert.ts";

const format = uiMessageFormat<UIMessage>();
const assistant = (...parts: UIMessage["parts"]): UIMessage => ({ id: "m", role: "assistant", parts });
const user = (...parts: UIMessage["parts"]): UIMessage => ({ id: "u", role: "user", parts });
const text = (value: string) => ({ type: "text", text: value }) as const;

const shownData = (convertDataPart: () => never) =>
  uiMessageFormat({ convertDataPart }).pieces({ id: "m", role: "user", parts: [{ type: "data-note" }] });
const converted = (options: { generateId: () => never }) =>
  convert([{ role: "user", content: "a" }], {
    from: modelMessageConversion,
    to: uiMessageConversion(options),
  });

const available = {
  type: "tool-weather",
  toolCallId: "a",
  state: "input-available",
  input: { city: "Ulm" },
} as const;
const answered = { ...available, state: "output-available", output: { celsius: 4 } } as const;
const failed = { ...available, toolCallId: "b", state: "output-error", errorText: "No such city" } as const;
const asked = { ...available, toolCallId: "c", state: "approval-requested", approval: { id: "ok" } } as const;
const approved = { ...asked, state: "approval-responded", approval: { id: "ok", approved: true } } as const;
const denied = {
  ...asked,
  state: "output-denied",
  approval: { id: "ok", approved: false, reason: "No." },
} as const;
const streaming = {
  type: "tool-weather",
  toolCallId: "d",
  state: "input-streaming",
  rawInput: '{"ci',
} as const;
const dynamic = {
  type: "dynamic-tool",
  toolName: "search",
  toolCallId: "e",
  state: "output-available",
  input: "q",
  output: "found",
  providerExecuted: true,
} as const;

describe("options", () => {
  it.each([
    [{ convertDataparts: () => undefined }, 'takes convertDataPart; it was given "convertDataparts".'],
    [{ generateId: () => "a" }, 'takes convertDataPart; it was given "generateId".'],
    [null, "must be an object of options; it is null."],
  ])("the format refuses %j", (options, says) => {
    expect(() => uiMessageFormat(options as never)).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: `uiMessageFormat's argument ${says}` }),
    );
  });

  it.each<[string, (wrong: never) => unknown, unknown]>([
    ["convertDataPart", (convertDataPart) => uiMessageFormat({ convertDataPart }), "secret"],
    ["convertDataPart", (convertDataPart) => uiMessageConversion({ convertDataPart }), null],
    ["generateId", (generateId) => uiMessageConversion({ generateId }), {}],
    ["What generateId returns", (id) => converted({ generateId: () => id }), 5],
    ["convertDataPart must return", (part) => shownData(() => part), "secret"],
    ["convertDataPart must return", (part) => shownData(() => part), [{ secret: 1 }]],
    ["convertDataPart must return", async (part) => shownData(() => part), Promise.resolve("secret")],
  ])("%s is checked", async (says, call, wrong) => {
    const outcome = (async () => call(wrong as never))();
    await expect(outcome).rejects.toMatchObject({
      code: "INVALID_OPTION",
      message: expect.stringMatching(new RegExp(`^${says}`)),
    });
  });

  it("the conversion refuses one that it does not know", () => {
    uiMessageConversion({ convertDataPart: () => undefined, generateId: () => "a" });
    expect(() => uiMessageConversion({ generateIds: () => "a" } as object)).toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message:
          'uiMessageConversion\'s argument takes convertDataPart, generateId; it was given "generateIds".',
      }),
    );
  });
});

describe("roles", () => {
  it.each(["system", "user", "assistant"] as const)("%s", (role) => {
    expect(format.role({ id: "m", role, parts: [] })).toBe(role);
  });
});

describe("calls, results and approvals", () => {
  const ids = (parts: UIMessage["parts"]) => {
    const message = assistant(...parts);
    return [format.toolCalls(message).map(({ id }) => id), format.toolResults(message).map(({ id }) => id)];
  };

  it("reads a call and its result from the same part", () => {
    expect(ids([available])).toEqual([["a"], []]);
    expect(ids([answered])).toEqual([["a"], ["a"]]);
    expect(ids([failed])).toEqual([["b"], ["b"]]);
    expect(ids([denied])).toEqual([["c"], ["c"]]);
    expect(ids([asked])).toEqual([["c"], []]);
    expect(ids([approved])).toEqual([["c"], []]);
  });

  it("takes a call for none while its input still streams", () => {
    expect(ids([streaming])).toEqual([[], []]);
    expect(format.isEmpty(assistant(streaming))).toBe(true);
  });

  it("reads all steps of one answer, static and dynamic tools", () => {
    const message = assistant(
      { type: "step-start" },
      answered,
      { type: "step-start" },
      dynamic,
      text("Done."),
    );
    expect(format.toolCalls(message)).toEqual([
      { id: "a", name: "weather" },
      { id: "e", name: "search", providerExecuted: true },
    ]);
    expect(format.toolResults(message)).toEqual([
      { id: "a", name: "weather" },
      { id: "e", name: "search" },
    ]);
  });

  it("reads a request and its response from the same part", () => {
    const request = { kind: "request", approvalId: "ok", toolCallId: "c" };
    expect(format.approvals(assistant(asked))).toEqual([request]);
    expect(format.approvals(assistant(approved))).toEqual([request, { kind: "response", approvalId: "ok" }]);
    expect(format.approvals(assistant(denied))).toEqual([request, { kind: "response", approvalId: "ok" }]);
    expect(format.approvals(assistant(answered))).toEqual([]);
  });

  it("answers an interrupted call where it stands, and keeps to that when the result comes late", async () => {
    const store = inMemoryStore();
    const memory = createChatMemory({ id: "chat", store, format });
    const open = assistant(text("Let me see."), available, dynamic);
    await memory.add(user(text("?")), entry(open, { id: "m" }));
    expect(await memory.messages()).toEqual([user(text("?")), open]);

    const errorText = "The tool call was interrupted: no result was recorded.";
    const failing = { ...available, state: "output-error", errorText } as const;
    const shown = assistant(text("Let me see."), failing, dynamic);
    await memory.add(user(text("!")), { ...assistant(text("Well.")), id: "m-2" });
    expect((await memory.messages())[1]).toEqual(shown);

    const late = assistant(text("Let me see."), answered, dynamic);
    await memory.put("m", late);
    const again = createChatMemory({ id: "chat", store, format });
    expect((await again.messages())[1]).toEqual(shown);
    expect((await again.history()).messages[1]?.message).toEqual(late);
    const sent = await convertToModelMessages(await again.messages());
    expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user", "assistant"]);
  });

  it("says of a call that nobody approved that it did not run, and keeps to that when the approval comes late", async () => {
    const memory = createChatMemory({ format });
    await memory.add(user(text("?")), entry(assistant(asked), { id: "m" }));
    await memory.add(user(text("!")), { ...assistant(text("Well.")), id: "m-2" });
    const told = async (): Promise<unknown> => (await memory.messages())[1]?.parts;
    const errorText = "The tool call was not carried out: the user has not approved it.";
    expect(await told()).toEqual([expect.objectContaining({ state: "output-error", errorText })]);
    for (const late of [approved, { ...answered, toolCallId: "c", approval: approved.approval }] as const) {
      await memory.put("m", assistant(late));
      expect(await told()).toEqual([expect.objectContaining({ state: "output-error", errorText })]);
    }
  });

  it("takes a result in time that is put before the model goes on", async () => {
    const memory = createChatMemory({ format });
    await memory.add(user(text("?")), entry(assistant(available), { id: "m" }), user(text("!")));
    await memory.put("m", assistant(answered));
    await memory.add({ ...assistant(text("Well.")), id: "m-2" });
    expect((await memory.messages())[1]).toEqual(assistant(answered));
  });

  it.each([
    [available, { ...available, state: "output-error", errorText: "gone" }],
    [asked, { ...available, toolCallId: "c", state: "output-error", errorText: "gone" }],
    [approved, { ...approved, state: "output-error", errorText: "gone" }],
    [answered, { ...available, state: "output-error", errorText: "gone" }],
    [denied, denied],
    [{ ...denied, state: "approval-responded" }, denied],
    [text("a"), text("a")],
  ] as [UIMessage["parts"][number], UIMessage["parts"][number]][])("%j becomes %j", (part, shown) => {
    const message = assistant(part);
    const calls = format.toolCalls(message);
    expect(format.interrupted?.(message, calls, "gone")).toEqual(assistant(shown));
  });
});

describe("a conversation in a memory", () => {
  it("comes back as it was, the answer put in place while it streams", async () => {
    const store = inMemoryStore();
    const question: UIMessage = { ...user(text("Weather in Ulm?")), metadata: { sentAt: new Date(0) } };
    const memory = createChatMemory({ id: "chat", store, format });
    await memory.add(entry(question, { id: question.id }));
    await memory.put("m", assistant({ type: "step-start" }, streaming));
    await memory.put("m", assistant({ type: "step-start" }, available));
    const final = assistant({ type: "step-start" }, answered, { type: "step-start" }, text("4 degrees."));
    await memory.put("m", final);
    const again = createChatMemory({ id: "chat", store, format });
    expect(await again.messages()).toEqual([question, final]);
  });
});

describe("pieces", () => {
  it("holds what a model reads, by place", () => {
    const message = assistant(
      { type: "step-start" },
      { type: "reasoning", text: "Hm." },
      text("Let me see."),
      answered,
      failed,
      denied,
      streaming,
      { type: "source-url", sourceId: "s", url: "https://example.org" },
      { type: "source-document", sourceId: "s", mediaType: "application/pdf", title: "t" },
      { type: "data-weather", data: { celsius: 4 } },
    );
    const called = [
      { type: "text", text: "weather", of: "name" },
      { type: "text", text: '{"city":"Ulm"}', of: "tool-call" },
      { type: "text", text: "weather", of: "name" },
    ];
    expect(format.pieces(message)).toEqual([
      { type: "text", text: "Hm.", of: "reasoning" },
      { type: "text", text: "Let me see.", of: "content" },
      ...called,
      { type: "text", text: '{"celsius":4}', of: "tool-result" },
      ...called,
      { type: "text", text: "No such city", of: "tool-result" },
      ...called,
      { type: "text", text: "No.", of: "tool-result" },
    ]);
  });

  it("tells type and size of media where the message does", () => {
    const message = user(
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,aGVsbG8=" },
      { type: "file", mediaType: "image/png", url: "https://example.org/a.png", filename: "a.png" },
      {
        type: "file",
        mediaType: "audio",
        url: "data:audio/wav;base64,aGk=",
        providerReference: { openai: "file-1" },
      },
      { type: "steering-message", id: "s", parts: [text("Quick!")] },
    );
    expect(format.pieces(message)).toEqual([
      { type: "media", mediaType: "image/png", bytes: 5, data: "aGVsbG8=", of: "content" },
      { type: "media", mediaType: "image/png", bytes: undefined, of: "content" },
      { type: "media", mediaType: "audio", bytes: undefined, of: "content" },
      { type: "text", text: "Quick!", of: "content" },
    ]);
    expect(
      format.pieces(
        assistant({ type: "reasoning-file", mediaType: "image/png", url: "data:image/png;base64,aGk=" }),
      ),
    ).toEqual([{ type: "media", mediaType: "image/png", bytes: 2, data: "aGk=", of: "reasoning" }]);
  });

  it("counts a part of an unknown type by its JSON", () => {
    const message = assistant({ type: "hologram", beams: 3 } as unknown as UIMessage["parts"][number]);
    expect(format.pieces(message)).toEqual([
      { type: "text", text: '{"type":"hologram","beams":3}', of: "content" },
    ]);
    expect(format.isEmpty(message)).toBe(false);
  });
});

describe("isEmpty", () => {
  it.each([
    [[], true],
    [[text(" \n")], true],
    [[{ type: "step-start" }, { type: "source-url", sourceId: "s", url: "u" }], true],
    [[{ type: "data-weather", data: 1 }], true],
    [[{ type: "steering-message", id: "s", parts: [text(" ")] }], true],
    [[{ type: "steering-message", id: "s", parts: [text("a")] }], false],
    [[{ type: "reasoning", text: "" }], false],
    [[{ type: "file", mediaType: "image/png", url: "u" }], false],
    [[available], false],
  ] as [UIMessage["parts"], boolean][])("%j: %s", (parts, empty) => {
    expect(format.isEmpty(assistant(...parts))).toBe(empty);
  });

  it("asks convertDataPart about data parts", () => {
    const shown = uiMessageFormat<UIMessage>({ convertDataPart: () => text("4 degrees") });
    expect(shown.isEmpty(user({ type: "data-weather", data: 1 }))).toBe(false);
  });
});

describe("reasoning and compaction", () => {
  it("leaves out with reasoning the ids of the items that it led to, by which OpenAI's API would ask for it", () => {
    const of = (itemId: string) => ({ openai: { itemId } });
    const thought = { type: "reasoning" as const, text: "2 + 2", providerMetadata: of("rs_1") };
    const said = { ...text("4"), providerMetadata: { ...of("msg_1"), other: { kept: true } } };
    const called = { ...answered, callProviderMetadata: of("fc_1") };
    expect(format.without(assistant(thought, said, called, denied), { reasoning: true })).toEqual(
      assistant(
        { ...said, providerMetadata: { openai: {}, other: { kept: true } } },
        { ...answered, callProviderMetadata: { openai: {} } },
        denied,
      ),
    );
    const unthought = assistant(said, called);
    expect(format.without(unthought, { reasoning: true })).toBe(unthought);
  });

  it("tells reasoning and files of it", () => {
    const thinking = assistant({ type: "reasoning", text: "Hm." }, text("42"));
    expect(format.hasReasoning(thinking)).toBe(true);
    expect(format.hasReasoning(assistant({ type: "reasoning-file", mediaType: "image/png", url: "u" }))).toBe(
      true,
    );
    expect(format.hasReasoning(assistant(text("42")))).toBe(false);
    expect(format.without(thinking, { reasoning: true })).toEqual(assistant(text("42")));
  });

  it("takes a provider's compaction for a boundary", () => {
    const compacted = { ...text("Summary"), providerMetadata: { anthropic: { type: "compaction" } } };
    expect(format.isBoundary(assistant(compacted))).toBe(true);
    const item = { openai: { itemId: "cmp_1" } };
    expect(
      format.isBoundary(assistant({ type: "custom", kind: "openai.compaction", providerMetadata: item })),
    ).toBe(true);
    expect(format.isBoundary(assistant({ type: "custom", kind: "openai.compaction" }))).toBe(false);
    expect(format.isBoundary(assistant(compacted, text("Go on.")))).toBe(true);
    expect(format.isBoundary(assistant({ type: "custom", kind: "openai.x", providerMetadata: item }))).toBe(
      false,
    );
    expect(format.isBoundary(assistant({ type: "reasoning", text: "Hm.", providerMetadata: item }))).toBe(
      false,
    );
    expect(format.isBoundary(assistant({ ...compacted, text: "" }))).toBe(false);
    expect(format.isBoundary(user(compacted))).toBe(false);
  });
});

describe("without", () => {
  const only = (id: string) => (other: string) => other === id;

  it("leaves a call out with its result, whatever is asked of the result", () => {
    expect(format.without(assistant(answered, failed), { toolCalls: only("a") })).toEqual(assistant(failed));
    expect(
      format.without(assistant(answered), { toolCalls: only("a"), toolResults: only("a") }),
    ).toBeUndefined();
    expect(format.without(assistant(asked, text("?")), { toolCalls: only("c") })).toEqual(
      assistant(text("?")),
    );
    const message = assistant(answered, text("4 degrees."));
    expect(
      format.without(message, { toolCalls: only("x"), toolResults: only("x"), media: true, reasoning: true }),
    ).toBe(message);
  });

  it("leaves a result out and the call as it was before", () => {
    const metadata = { resultProviderMetadata: { openai: { id: "r" } }, preliminary: true };
    expect(format.without(assistant({ ...answered, ...metadata }), { toolResults: only("a") })).toEqual(
      assistant(available),
    );
    expect(format.without(assistant(denied), { toolResults: only("c") })).toEqual(
      assistant({ ...denied, state: "approval-responded" }),
    );
    const broken = { ...failed, input: undefined, rawInput: "{" };
    expect(format.without(assistant(broken), { toolResults: only("b") })).toEqual(
      assistant({ ...available, toolCallId: "b", input: "{" }),
    );
  });

  it("leaves files out, those of a steering message too", () => {
    const file = { type: "file", mediaType: "image/png", url: "u" } as const;
    const steering = (...parts: (typeof file | ReturnType<typeof text>)[]) =>
      ({ type: "steering-message", id: "s", parts }) as const;
    expect(format.without(user(file, text("What is it?")), { media: true })).toEqual(
      user(text("What is it?")),
    );
    expect(format.without(user(file), { media: true })).toBeUndefined();
    expect(
      format.without(assistant(text("a"), steering(file, text("b")), steering(file)), { media: true }),
    ).toEqual(assistant(text("a"), steering(text("b"))));
  });
});

describe("encode", () => {
  it.each([
    ["hello", "is a string"],
    [{ role: "user", parts: [] }, "has undefined as id"],
    [{ id: "m", role: "tool", parts: [] }, 'the role "tool"'],
    [{ id: "m", role: "user", content: "secret" }, "has undefined as parts"],
    [{ id: "m", role: "user", parts: ["secret"] }, "as parts[0]"],
    [
      { id: "m", role: "user", parts: [{ type: "text", content: "secret" }] },
      "has undefined as parts[0].text",
    ],
    [
      { id: "m", role: "user", parts: [{ type: "file", url: "secret" }] },
      "has undefined as parts[0].mediaType",
    ],
    [
      { id: "m", role: "assistant", parts: [{ type: "tool-x", state: "output-available" }] },
      "parts[0].toolCallId",
    ],
    [{ id: "m", role: "assistant", parts: [{ type: "tool-x", toolCallId: "a" }] }, "parts[0].state"],
    [
      { id: "m", role: "assistant", parts: [{ type: "dynamic-tool", toolCallId: "a", state: "s" }] },
      "parts[0].toolName",
    ],
    [{ id: "m", role: "assistant", parts: [{ ...failed, errorText: undefined }] }, "parts[0].errorText"],
    [
      { id: "m", role: "assistant", parts: [{ ...asked, approval: { approved: true } }] },
      "parts[0].approval.id",
    ],
    [
      { id: "m", role: "assistant", parts: [{ type: "steering-message", parts: ["secret"] }] },
      "parts[0].parts[0]",
    ],
    [{ id: "m", role: "user", parts: [], metadata: () => "secret" }, "metadata"],
  ])("refuses %j and says why, without its content", (message, reason) => {
    let error: unknown;
    try {
      format.encode(message as unknown as UIMessage);
    } catch (thrown) {
      error = thrown;
    }
    expect(isTurnkeepError(error, "INVALID_MESSAGE")).toBe(true);
    expect(String(error)).toContain(reason);
    expect(String(error)).not.toContain("secret");
  });
});

describe("decode", () => {
  it("refuses what another format, a later version or another hand wrote", () => {
    const encoded = format.encode(user(text("x")));
    expect(() => format.decode(encoded.replace('"ai-sdk-ui-message"', '"other"'))).toThrow(/other/);
    expect(() => format.decode(encoded.replace('"version":1', '"version":2'))).toThrow(/version 2/);
    expect(() => format.decode(encoded.replace('"user"', '"tool"'))).toThrow(/ai-sdk-ui-message/);
  });
});
