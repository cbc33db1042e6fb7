import { describe, expect, test } from "vitest";
import { asText, derived, invalidMessage, joinedParts, type Visit, Visitor } from "../src/format-kit.ts";

/** A format of one's own, as a third party writes it. */
interface Line {
  readonly from: "user" | "assistant" | "tool";
  readonly parts: readonly LinePart[];
  readonly signed?: string;
}

type LinePart =
  | { readonly kind: "say" | "think"; readonly text: string }
  | {
      readonly kind: "call";
      readonly id: string;
      readonly tool: string;
      readonly input: unknown;
      readonly own?: false;
    }
  | { readonly kind: "answer"; readonly to: string; readonly value: unknown; readonly failed?: true }
  | { readonly kind: "picture"; readonly url: string }
  | { readonly kind: "quote"; readonly parts: readonly LinePart[] }
  | { readonly kind: "note" };

const call = {
  ref: (part: LinePart & { kind: "call" }) => ({
    id: part.id,
    name: part.tool,
    ...(part.own === false && { providerExecuted: true }),
  }),
  id: "id",
  name: "tool",
};
const answer = { ref: (part: LinePart & { kind: "answer" }) => ({ id: part.to }), id: "to" };

function visitPart(part: LinePart, at: Visitor): LinePart | undefined {
  switch (part.kind) {
    case "say":
      return at.textPart(part, "text", "content");
    case "think": {
      const thought = at.reasoning(part);
      return thought && at.text(thought, "text", "reasoning");
    }
    case "call": {
      const kept = at.call(part, call);
      at.name(part.tool);
      return kept && at.text(kept, "input", "tool-call", "json");
    }
    case "answer": {
      const kept = at.result(part, answer);
      const told = kept && at.told(kept, "value", kept.failed === true);
      return told && at.text(told, "value", "tool-result", told.failed ? "text" : "provider");
    }
    case "picture":
      return at.media(part, "content", () => ({
        type: "media",
        mediaType: "image/*",
        bytes: undefined,
        of: "content",
      }));
    case "quote":
      return at.whole(
        at.present(part),
        (inner, to) => to.list(inner, "parts", visitPart, undefined),
        undefined,
      );
    case "note":
      return at.unsent(part);
  }
}

const visit: Visit<Line> = (line, at) => at.list(line, "parts", visitPart, undefined);

const format = derived<Line>(visit, {
  name: "line",
  version: 1,
  role: (line) => line.from,
  interruptedResults: (calls, text) =>
    calls.map(({ id }) => ({ from: "tool", parts: [{ kind: "answer", to: id, value: text, failed: true }] })),
  joined: (first, second) =>
    first.from === second.from ? joinedParts(first, second, "parts", (line) => line.parts) : undefined,
  check(line) {
    if (!Array.isArray((line as Partial<Line> | null)?.parts))
      throw invalidMessage("has no parts", "Give a list.");
  },
});

const line = (...parts: LinePart[]): Line => ({ from: "assistant", parts });
const say = (text: string): LinePart => ({ kind: "say", text });
const called = (id: string, own?: false): LinePart => ({
  kind: "call",
  id,
  tool: "find",
  input: { id },
  ...(own === false && { own }),
});
const answered = (to: string, value: unknown = "yes"): LinePart => ({ kind: "answer", to, value });

describe("a format derived from a traversal", () => {
  test("reads what a message holds, in its order", () => {
    const message = line(say("a"), called("1"), answered("1", { b: null }), { kind: "picture", url: "x" });
    expect(format.toolCalls(message)).toEqual([{ id: "1", name: "find" }]);
    expect(format.toolResults(message)).toEqual([{ id: "1" }]);
    expect(
      format.pieces(message).map((piece) => (piece.type === "text" ? piece.text : piece.mediaType)),
    ).toEqual(["a", "find", '{"id":"1"}', '{"b":null}', "image/*"]);
  });

  test("is open to a visitor of one's own, for what it has no method for", () => {
    class WithoutPictures extends Visitor {
      override media(): undefined {
        return undefined;
      }
    }
    const message = line(say("a"), { kind: "picture", url: "x" });
    expect(format.visit?.(message, new WithoutPictures())).toEqual(line(say("a")));
    const said = line(say("a"));
    expect(format.visit?.(said, new WithoutPictures())).toBe(said);
  });

  test("is empty where nothing but blank texts and what is never sent is left", () => {
    expect(format.isEmpty(line())).toBe(true);
    expect(format.isEmpty(line(say(" "), { kind: "note" }))).toBe(true);
    expect(format.isEmpty(line({ kind: "quote", parts: [] }))).toBe(false);
    expect(format.isEmpty(line(answered("1", "")))).toBe(false);
  });

  test("leaves out what is asked for, and nothing of a part that must stay whole", () => {
    const quote: LinePart = { kind: "quote", parts: [{ kind: "picture", url: "x" }, say("")] };
    const message = line({ kind: "picture", url: "x" }, quote, say(""), { kind: "note" });
    expect(format.without(message, { media: true })).toEqual(line(quote, say(""), { kind: "note" }));
    expect(format.withoutEmptyText?.(message, "empty")).toEqual(line({ kind: "picture", url: "x" }, quote));
    expect(format.without(line(called("1"), say(" ")), { toolCalls: () => true })).toBeUndefined();
    expect(format.without(message, { toolCalls: () => true, reasoning: true })).toBe(message);
  });

  test("renames what the application runs; a result is as its call says, else as its message's role", () => {
    const message = line(called("1"), called("2", false), answered("1"), answered("2"), answered("3"));
    const renamed = line(
      { ...called("1"), id: "n1" } as LinePart,
      called("2", false),
      answered("n1"),
      answered("2"),
      answered("3"),
    );
    expect(format.renameCalls?.(message, (id) => `n${id}`)).toEqual(renamed);
    const apart: Line = { from: "tool", parts: [answered("3")] };
    expect(format.renameCalls?.(apart, (id) => `n${id}`).parts).toEqual([answered("n3")]);
    expect(format.renameTools?.(message, (name) => name)).toBe(message);
  });

  test("changes texts where they stand, and keeps what only the provider can read", () => {
    const change = (text: string): string => text.replaceAll("a", "b");
    const sealed = answered("1", { encrypted: "aa" });
    expect(format.mapText?.(line(say("aa"), answered("1", { a: "a" }), sealed), change)).toEqual(
      line(say("bb"), answered("1", { b: "b" }), sealed),
    );
    const untouched = line(say("c"), sealed);
    expect(format.mapText?.(untouched, change)).toBe(untouched);
  });

  test("says why a tool failed, joins two messages, and refuses what it cannot read", () => {
    const failed: LinePart = { kind: "answer", to: "1", value: "", failed: true };
    expect(format.withResultText?.(line(failed), "lost")).toEqual(line({ ...failed, value: "lost" }));
    expect(format.joined?.(line(say("a")), { ...line(say("b")), signed: "x" })).toEqual({
      ...line(say("a"), say("b")),
      signed: "x",
    });
    expect(format.joined?.({ ...line(), signed: "y" }, { ...line(), signed: "x" })).toBeUndefined();
    expect(() => format.encode({} as Line)).toThrow("The message has no parts. Give a list.");
    expect(() => format.decode('{"format":"line","version":1,"message":{}}')).toThrow(
      "no message of the format",
    );
    expect(asText(null)).toBe("null");
    for (const bytes of [new Uint8Array([137, 80]), Buffer.from([137, 80]), new Uint8Array([137, 80]).buffer])
      expect(asText({ a: bytes })).toBe('{"a":"iVA="}');
  });
});
