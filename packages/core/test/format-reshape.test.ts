import { describe, expect, test } from "vitest";
import { type ModelMessageLike, modelMessageFormat } from "../src/index.ts";
import {
  assistant,
  blank,
  call,
  file,
  image,
  request,
  response,
  result,
  text,
  thought,
  thoughtFile,
  tool,
  userParts,
} from "./format-parts.ts";
import { described } from "./format-support.ts";

const format = modelMessageFormat as Required<typeof modelMessageFormat>;
const empty = { type: "text", text: "" };
const own = (part: object): object => ({ ...part, providerExecuted: true });
const upper = (id: string): string => `new-${id}`;
const compaction = {
  type: "custom",
  kind: "openai.compaction",
  providerOptions: { openai: { itemId: "cmp_1" } },
};
const summary = { type: "text", text: " ", providerOptions: { anthropic: { type: "compaction" } } };

test("textMessage holds the text and nothing else", () => {
  expect(format.textMessage("user", "Go on.")).toEqual({ role: "user", content: "Go on." });
  expect(format.textMessage("assistant", "Yes.")).toEqual({ role: "assistant", content: "Yes." });
});

describe("renameCalls", () => {
  test("renames calls, results and approval requests", () => {
    const message = assistant(text, call("1"), request("1"), result("1"));
    const before = described(message);
    expect(format.renameCalls(message, upper)).toEqual(
      assistant(
        text,
        { ...call("1"), toolCallId: "new-1" },
        { ...request("1"), toolCallId: "new-1" },
        { ...result("1"), toolCallId: "new-1" },
      ),
    );
    expect(described(message)).toEqual(before);
    const answers = tool(result("1"), response("1"));
    expect(format.toolResults(format.renameCalls(answers, upper))).toEqual([{ id: "new-1", name: "t-1" }]);
    expect(format.approvals(format.renameCalls(answers, upper))).toEqual(format.approvals(answers));
  });

  test("leaves the provider's own calls, their requests and their results", () => {
    for (const message of [
      assistant(own(call("1")), request("1"), result("1")),
      assistant(result("made-before")),
      assistant("text", text),
    ])
      expect(format.renameCalls(message, upper)).toBe(message);
  });

  test("answers the same object when no id changes", () => {
    const message = assistant(call("1"));
    expect(format.renameCalls(message, (id) => id)).toBe(message);
  });
});

describe("renameTools", () => {
  test("renames the tools of calls and results alike", () => {
    const message = assistant(text, call("1"), request("1"), result("1"));
    const before = described(message);
    expect(format.renameTools(message, upper)).toEqual(
      assistant(text, { ...call("1"), toolName: "new-t-1" }, request("1"), {
        ...result("1"),
        toolName: "new-t-1",
      }),
    );
    expect(described(message)).toEqual(before);
    expect(format.toolResults(format.renameTools(tool(result("1"), response("1")), upper))).toEqual([
      { id: "1", name: "new-t-1" },
    ]);
  });

  test("leaves the provider's own calls and their results, and answers the same object when no name changes", () => {
    for (const message of [
      assistant(own(call("1")), request("1"), result("1")),
      assistant(result("made-before")),
      assistant("text", text),
    ])
      expect(format.renameTools(message, upper)).toBe(message);
    const message = assistant(call("1"));
    expect(format.renameTools(message, (name) => name)).toBe(message);
  });
});

describe("joined", () => {
  test.each<[string, ModelMessageLike, ModelMessageLike, unknown]>([
    ["texts", { role: "user", content: "a" }, { role: "user", content: "b" }, [textOf("a"), textOf("b")]],
    ["text and parts", { role: "user", content: "a" }, userParts(image), [textOf("a"), image]],
    ["answers", assistant(thought, call("1")), assistant(text), [thought, call("1"), text]],
    [
      "results",
      tool(result("1")),
      tool(result("2"), response("3")),
      [result("1"), result("2"), response("3")],
    ],
  ])("%s", (_name, first, second, content) => {
    const before = described([first, second]);
    expect(format.joined(first, second)).toEqual({ role: first.role, content });
    expect(described([first, second])).toEqual(before);
  });

  test("keeps the other members, where they agree", () => {
    const cached = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } };
    const [a, b] = [textOf("a"), textOf("b")];
    const plain = userParts(a);
    const marked = { ...userParts(b), ...cached, id: "m", constructor: 1 };
    expect(format.joined(plain, marked)).toEqual({ ...marked, content: [a, b] });
    expect(format.joined(marked, plain)).toEqual({ ...marked, content: [b, a] });
    expect(format.joined(marked, { ...plain, ...cached })).toEqual({ ...marked, content: [b, a] });
    expect(format.joined(marked, { ...plain, id: "n" } as never)).toBeUndefined();
  });

  test.each<[string, ModelMessageLike, ModelMessageLike]>([
    ["roles differ", { role: "user", content: "a" }, { role: "assistant", content: "b" }],
    ["system messages", { role: "system", content: "a" }, { role: "system", content: "a" }],
    ["a compaction", assistant(compaction), assistant(text)],
    ["before a compaction", assistant(text), assistant(compaction)],
  ])("not %s", (_name, first, second) => {
    expect(format.joined(first, second)).toBeUndefined();
  });
});

describe("renameDocuments", () => {
  const file = (filename: string, mediaType = "application/pdf") => ({
    type: "file",
    data: "JVBERi0=",
    mediaType,
    filename,
  });
  const content = (...value: object[]) => result("1", { type: "content", value });

  test("renames the documents of a message and of its results, and no other files", () => {
    const rename = (name: string) => `new ${name}`;
    const photo = file("a.png", "image/png");
    expect(format.renameDocuments(userParts(file("a.pdf"), photo, text), rename)).toEqual(
      userParts(file("new a.pdf"), photo, text),
    );
    expect(format.renameDocuments(tool(content(file("a.pdf"), photo)), rename)).toEqual(
      tool(content(file("new a.pdf"), photo)),
    );
  });

  test("answers the message itself when nothing changed", () => {
    for (const message of [userParts(file("a.pdf"), image), tool(content(file("a.pdf"))), userParts(text)])
      expect(format.renameDocuments(message, (name) => name)).toBe(message);
  });
});

describe("withResultText", () => {
  test("gives a text to the errors that say nothing, and changes no other result", () => {
    const failed = (value: string) => result("1", { type: "error-text", value });
    const others = [
      failed("gone"),
      result("2", { type: "text", value: "" }),
      result("3", { type: "content", value: [] }),
    ];
    expect(format.withResultText(tool(failed(""), ...others), "failed")).toEqual(
      tool(failed("failed"), ...others),
    );
    const fine = tool(...others);
    expect(format.withResultText(fine, "failed")).toBe(fine);
    // Such a result is the provider's own.
    const own = assistant(failed(""));
    expect(format.withResultText(own, "failed")).toBe(own);
  });

  test("gives one to every result that says nothing, and to each blank text in one", () => {
    const of = (output: object) => result("1", output);
    const text = (value: string) => ({ type: "text", value });
    const content = (...value: object[]) => ({ type: "content", value });
    const says = (value: string) => ({ type: "text", text: value });
    const pairs: [object, object][] = [
      [text(""), text("silent")],
      [text(" \n"), text("silent")],
      [
        { type: "error-text", value: " " },
        { type: "error-text", value: "failed" },
      ],
      [content(), text("silent")],
      [content(says(""), says("b")), content(says("silent"), says("b"))],
    ];
    for (const [given, right] of pairs)
      expect(format.withResultText(tool(of(given)), "failed", "silent")).toEqual(tool(of(right)));
    const fine = tool(of({ type: "json", value: "" }), of({ type: "json", value: [] }), of(text("a")));
    expect(format.withResultText(fine, "failed", "silent")).toBe(fine);
    const own = assistant(of(text("")), of(content(says(""))));
    expect(format.withResultText(own, "failed", "silent")).toBe(own);
  });
});

describe("withoutEmptyText", () => {
  test("leaves out empty texts, and blank ones where asked", () => {
    const message = assistant(empty, blank, thought, text, call("1"));
    const before = described(message);
    expect(format.withoutEmptyText(message, "empty")).toEqual(assistant(blank, thought, text, call("1")));
    expect(format.withoutEmptyText(message, "blank")).toEqual(assistant(thought, text, call("1")));
    expect(described(message)).toEqual(before);
  });

  test.each<[string, ModelMessageLike]>([
    ["a text", { role: "user", content: "" }],
    ["a system message's text", { role: "system", content: "" }],
    ["parts", userParts(empty, empty)],
  ])("answers nothing when nothing is left: %s", (_name, message) => {
    expect(format.withoutEmptyText(message, "empty")).toBeUndefined();
    expect(format.withoutEmptyText(message, "blank")).toBeUndefined();
  });

  test("blanks count as nothing only where asked", () => {
    const message: ModelMessageLike = { role: "user", content: " \n" };
    expect(format.withoutEmptyText(message, "empty")).toBe(message);
    expect(format.withoutEmptyText(message, "blank")).toBeUndefined();
  });

  test("leaves reasoning, compactions, and texts of calls and results", () => {
    const message = assistant(
      { type: "reasoning", text: "" },
      summary,
      { ...call("1"), input: "" },
      result("1", { type: "text", value: "" }),
      result("2", { type: "content", value: [empty] }),
    );
    expect(format.withoutEmptyText(message, "blank")).toBe(message);
    const none = assistant();
    expect(format.withoutEmptyText(none, "blank")).toBe(none);
  });

  test("leaves what brings a thought signature of Gemini's only where asked", () => {
    const signed = (name: string) => ({ ...empty, providerOptions: { [name]: { thoughtSignature: "s" } } });
    const message = assistant(text, signed("google"), signed("vertex"), signed("googleVertex"));
    expect(format.withoutEmptyText(message, "blank", true)).toBe(message);
    expect(format.withoutEmptyText(message, "blank")).toEqual(assistant(text));
    const others = assistant(text, { ...empty, providerOptions: { google: { thought: true } } }, empty);
    expect(format.withoutEmptyText(others, "empty", true)).toEqual(assistant(text));
  });
});

describe("mapText", () => {
  const mark = (text: string, of: string): string => `${of}:${text}`;

  test("maps the texts of each kind of part, and no other part", () => {
    const message = assistant(
      text,
      thought,
      thoughtFile,
      image,
      file,
      call("1"),
      request("1"),
      compaction,
      summary,
    );
    const before = described(message);
    expect(format.mapText(message, (text, of) => (of === "tool-call" ? '{"b":2}' : mark(text, of)))).toEqual(
      assistant(
        textOf("content:secret"),
        { ...thought, text: "reasoning:hm" },
        thoughtFile,
        image,
        file,
        { ...call("1"), input: { b: 2 } },
        request("1"),
        compaction,
        summary,
      ),
    );
    expect(described(message)).toEqual(before);
    expect(format.mapText({ role: "system", content: "a" }, mark)).toEqual({
      role: "system",
      content: "content:a",
    });
  });

  test.each<[string, object, object]>([
    ["text", { type: "text", value: "a" }, { type: "text", value: "tool-result:a" }],
    ["error text", { type: "error-text", value: "a" }, { type: "error-text", value: "tool-result:a" }],
    ["JSON that is a text", { type: "json", value: "a" }, { type: "json", value: "tool-result:a" }],
    ["JSON", { type: "json", value: [1] }, { type: "text", value: "tool-result:[1]" }],
    ["an error's JSON", { type: "error-json", value: 1 }, { type: "error-text", value: "tool-result:1" }],
    ["a denial", { type: "execution-denied" }, { type: "execution-denied", reason: "tool-result:" }],
    [
      "content",
      { type: "content", value: [textOf("a"), image, { type: "hologram", at: 1 }] },
      {
        type: "content",
        value: [textOf("tool-result:a"), image, textOf('tool-result:{"type":"hologram","at":1}')],
      },
    ],
  ])("of a result with %s", (_name, output, expected) => {
    expect(format.mapText(tool(result("1", output)), mark)).toEqual(tool(result("1", expected)));
  });

  test("takes JSON back as JSON", () => {
    const hide = (text: string): string => text.replaceAll("secret", "…");
    const message = assistant(
      { ...call("1"), input: { a: ["secret"] } },
      result("1", { type: "json", value: { b: "secret" } }),
      { type: "hologram", body: "secret" },
      { ...call("2"), input: "secret" },
    );
    expect(format.mapText(message, hide)).toEqual(
      assistant(
        { ...call("1"), input: { a: ["…"] } },
        result("1", { type: "json", value: { b: "…" } }),
        { type: "hologram", body: "…" },
        { ...call("2"), input: "…" },
      ),
    );
  });

  test.each<[string, object, object]>([
    [
      "stays JSON",
      { type: "json", value: { found: ["first", 4111] } },
      { type: "json", value: { found: ["fir", "411"] } },
    ],
    ["stays JSON where it failed", { type: "error-json", value: 4111 }, { type: "error-json", value: 411 }],
    ["is cut as a text", { type: "text", value: "first" }, { type: "text", value: "fir" }],
    [
      "stays as it was where something in it is encrypted",
      { type: "json", value: [{ title: "first", encryptedContent: "EqgfCi" }] },
      { type: "json", value: [{ title: "first", encryptedContent: "EqgfCi" }] },
    ],
  ])("what a tool of the provider's put out %s", (_, output, expected) => {
    const cut = (text: string): string => text.slice(0, 3);
    expect(format.mapText(assistant(result("1", output)), cut)).toEqual(assistant(result("1", expected)));
  });

  test("a result of an unknown kind keeps it, also under a name that objects have", () => {
    const output = { type: "constructor", value: { b: 1 } };
    const message = tool(result("1", output));
    expect(format.mapText(message, () => "changed")).toEqual(
      tool(result("1", { ...output, value: "changed" })),
    );
  });

  test("an input keeps its kind, whatever became of its text", () => {
    const cut = (text: string): string => text.slice(0, 3);
    const input = { path: "a.txt", lines: ["first", 4111, 12n, null, true], at: new Date(0) };
    expect(format.mapText(assistant({ ...call("1"), input }), cut)).toEqual(
      assistant({
        ...call("1"),
        input: { path: "a.t", lines: ["fir", "411", 12n, null, true], at: new Date(0) },
      }),
    );
    const list = { ...call("1"), input: [1, 2, 3] };
    expect(format.mapText(assistant(list), cut)).toEqual(assistant(list));
    expect(format.mapText(assistant({ ...call("1"), input: 1.25 }), (text) => `no ${text}`)).toEqual(
      assistant({ ...call("1"), input: "no 1.25" }),
    );
  });
});

function textOf(value: string): object {
  return { type: "text", text: value };
}
