import { describe, expect, it } from "vitest";
import { type UIMessageLike, uiMessageFormat } from "../src/ai-sdk.ts";
import { testReshapeCases } from "./reshape-cases.ts";

const messageOf = (role: string, id: string, parts: unknown[]) => ({ id, role, parts }) as UIMessageLike;
const user = (...parts: unknown[]) => messageOf("user", "u", parts);
const assistant = (...parts: unknown[]) => messageOf("assistant", "a", parts);
const text = (of: string) => ({ type: "text", text: of });
const file = { type: "file", url: "https://example.org/secret.png", mediaType: "image/png" };
const step = { type: "step-start" };
const tool = (members: object) => ({
  type: "tool-find",
  toolCallId: "1",
  state: "output-available",
  input: {},
  output: "",
  ...members,
});
const steering = (...parts: unknown[]) => ({ type: "steering-message", id: "s", parts });
const data = (of: unknown) => ({ type: "data-note", data: of });
const compaction = {
  type: "custom",
  kind: "openai.compaction",
  providerMetadata: { openai: { itemId: "secret" } },
};
const marked = (metadata: object, message: UIMessageLike) => ({ ...message, metadata });

const format = uiMessageFormat({
  convertDataPart: (part) => (typeof part.data === "string" ? { type: "text", text: part.data } : undefined),
});

describe("uiMessageFormat", () => {
  testReshapeCases<UIMessageLike>(format, {
    renamed: [
      ["an answer", assistant(step, tool({})), assistant(step, tool({ toolCallId: "new-1" }))],
      [
        "a call that still streams",
        assistant({ type: "dynamic-tool", toolName: "a", toolCallId: "1", state: "input-streaming" }),
        assistant({ type: "dynamic-tool", toolName: "a", toolCallId: "new-1", state: "input-streaming" }),
      ],
      ["a call of the provider's", assistant(tool({ providerExecuted: true }))],
    ],
    named: [
      ["an answer", assistant(step, tool({})), assistant(step, tool({ type: "tool-new-find" }))],
      [
        "a call of a tool that is not known beforehand",
        assistant(tool({ type: "dynamic-tool", toolName: "find" })),
        assistant(tool({ type: "dynamic-tool", toolName: "new-find" })),
      ],
      ["a call without a name", assistant(tool({ type: "tool-" })), assistant(tool({ type: "tool-new-" }))],
      ["a call of the provider's", assistant(tool({ providerExecuted: true }))],
    ],
    joined: [
      ["what a user says twice", user(text("a")), messageOf("user", "v", [file]), user(text("a"), file)],
      [
        "answers, each a step of its own",
        assistant(tool({})),
        assistant(text("b")),
        assistant(tool({}), step, text("b")),
      ],
      [
        "answers whose steps are marked",
        assistant(step, text("a")),
        assistant(step, text("b")),
        assistant(step, text("a"), step, text("b")),
      ],
      [
        "messages of which one has metadata",
        user(text("a")),
        marked({ a: 1 }, user(file)),
        marked({ a: 1 }, user(text("a"), file)),
      ],
      [
        "no metadata that disagree",
        marked({ a: 2 }, user(text("a"))),
        marked({ a: 1 }, user(file)),
        undefined,
      ],
      ["no compaction", assistant(text("a")), assistant(compaction), undefined],
      ["no system messages", messageOf("system", "s", []), messageOf("system", "s", []), undefined],
    ],
    emptied: [
      ["parts", user(text(""), file, text(" ")), "empty", user(file, text(" "))],
      ["blank parts", user(text(""), file, text(" ")), "blank", user(file)],
      ["an answer", assistant(step, text("")), "empty", undefined],
      ["a call's message", assistant(step, text(""), tool({})), "empty", assistant(step, tool({}))],
      [
        "a data part that becomes a text",
        user(data(""), data(1), text("a")),
        "empty",
        user(data(1), text("a")),
      ],
      ["nothing but a data part that no model sees", user(text(""), data(1)), "empty", undefined],
      ["a steering message", assistant(steering(text(""), file)), "empty", assistant(steering(file))],
      ["an empty steering message", assistant(steering(text("")), tool({})), "empty", assistant(tool({}))],
    ],
    full: [
      ["reasoning", assistant({ type: "reasoning", text: "" })],
      ["a result", assistant(tool({}))],
      ["a compaction", assistant({ ...text(" "), providerMetadata: { anthropic: { type: "compaction" } } })],
      ["a list without parts", user()],
    ],
    mapped: [
      ["parts", user(text("a secret"), file), user(text("a …"), file)],
      [
        "reasoning",
        assistant({ type: "reasoning", text: "secret" }),
        assistant({ type: "reasoning", text: "…" }),
      ],
      [
        "what the SDK does not send",
        assistant(
          step,
          { type: "source-url", sourceId: "1", url: "secret" },
          tool({ state: "input-streaming", input: "secret" }),
        ),
      ],
      [
        "a compaction",
        assistant(compaction, { ...text("secret"), providerMetadata: { anthropic: { type: "compaction" } } }),
      ],
      [
        "a call and its result",
        assistant(tool({ input: { a: "secret" }, output: ["secret"] })),
        assistant(tool({ input: { a: "…" }, output: ["…"] })),
      ],
      [
        "an error",
        assistant(tool({ state: "output-error", rawInput: "secret", input: undefined, errorText: "secret" })),
        assistant(tool({ state: "output-error", rawInput: "…", input: undefined, errorText: "…" })),
      ],
      [
        "a denial",
        assistant(
          tool({ state: "output-denied", approval: { id: "secret", approved: false, reason: "secret" } }),
        ),
        assistant(tool({ state: "output-denied", approval: { id: "secret", approved: false, reason: "…" } })),
      ],
      [
        "a data part that becomes a text",
        user(data("secret"), data("public")),
        user(text("…"), data("public")),
      ],
      ["a steering message", assistant(steering(text("secret"), file)), assistant(steering(text("…"), file))],
      ["an unknown part", user({ type: "hologram", body: "secret" }), user({ type: "hologram", body: "…" })],
    ],
    cut: [
      ["an input", assistant(tool({ input: { a: "secret" } })), assistant(tool({ input: { a: "secr" } }))],
      ["a result", assistant(tool({ output: { a: 1 } })), assistant(tool({ output: '{"a"' }))],
      [
        "what a tool of the provider's put out, which stays JSON",
        assistant(tool({ providerExecuted: true, output: { a: "secret" } })),
        assistant(tool({ providerExecuted: true, output: { a: "secr" } })),
      ],
      [
        "nothing of it where something in it is encrypted",
        assistant(tool({ providerExecuted: true, output: [{ a: "secret", encryptedContent: "public" }] })),
        assistant(tool({ providerExecuted: true, output: [{ a: "secret", encryptedContent: "public" }] })),
      ],
      ["an unknown part", user({ type: "hologram" }), user(text('{"ty'))],
    ],
  });

  it("gives the reason of a denial that has none", () => {
    const denied = assistant(tool({ state: "output-denied", approval: { id: "1", approved: false } }));
    const mapped = format.mapText?.(denied, (text, of) => (of === "tool-result" ? "No." : text));
    expect(mapped).toEqual(
      assistant(tool({ state: "output-denied", approval: { id: "1", approved: false, reason: "No." } })),
    );
  });

  it("gives a text to an error that says nothing, and to nothing else", () => {
    const failed = (errorText: string) => tool({ state: "output-error", errorText });
    const others = [tool({}), failed("gone"), text("")];
    const message = assistant(failed(""), ...others);
    expect(format.withResultText?.(message, "failed")).toEqual(assistant(failed("failed"), ...others));
    const fine = assistant(...others);
    expect(format.withResultText?.(fine, "failed")).toBe(fine);
  });

  it("renames documents, and no other files", () => {
    const pdf = (filename: string) => ({ ...file, mediaType: "application/pdf", filename });
    const photo = { ...file, filename: "a.png" };
    const message = user(pdf("a.pdf"), photo, file);
    expect(format.renameDocuments?.(message, (name) => `new ${name}`)).toEqual(
      user(pdf("new a.pdf"), photo, file),
    );
    expect(format.renameDocuments?.(message, (name) => name)).toBe(message);
    expect(format.renameDocuments?.(assistant(steering(pdf("a.pdf"))), (name) => `new ${name}`)).toEqual(
      assistant(steering(pdf("new a.pdf"))),
    );
  });
});

describe("what a message's part holds or became", () => {
  const showing = uiMessageFormat({ convertDataPart: ({ data }) => data });

  it("is seen, even if it is a blank text, and a file of it stays the application's", () => {
    expect(showing.isEmpty(user(data(text(" "))))).toBe(false);
    const message = user(data(file), text("a"));
    expect(showing.without(message, { media: true })).toBe(message);
    expect(showing.pieces(message).map(({ type }) => type)).toEqual(["media", "text"]);
  });

  it("is no call, no result and no reasoning of the message", () => {
    const thought = { type: "reasoning", text: "hm" };
    const message = assistant(steering(tool({}), thought), data(tool({})));
    expect(showing.toolCalls(message)).toEqual([]);
    expect(showing.toolResults(message)).toEqual([]);
    expect(showing.hasReasoning(message)).toBe(false);
    const omission = { toolCalls: () => true, toolResults: () => true, reasoning: true };
    expect(showing.without(message, omission)).toBe(message);
  });
});

describe("an empty text that brings a thought signature of Gemini's", () => {
  it("stays only where asked", () => {
    const signed = { ...text(""), providerMetadata: { googleVertex: { thoughtSignature: "s" } } };
    const message = assistant(text("a"), signed);
    const format = uiMessageFormat();
    expect(format.withoutEmptyText?.(message, "blank", true)).toBe(message);
    expect(format.withoutEmptyText?.(message, "blank")).toEqual(assistant(text("a")));
    expect(format.withoutEmptyText?.(assistant(text("a"), text("")), "blank", true)).toEqual(
      assistant(text("a")),
    );
  });
});
