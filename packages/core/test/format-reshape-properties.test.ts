import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ModelMessageLike, modelMessageFormat, type Piece } from "../src/index.ts";
import { anyMessage, copied, described } from "./format-support.ts";

const format = modelMessageFormat as Required<typeof modelMessageFormat>;

function holds(check: (message: ModelMessageLike) => void): void {
  fc.assert(
    fc.property(anyMessage, (message) => {
      const before = described(message);
      check(message);
      expect(described(message)).toEqual(before);
    }),
  );
}

function survives(message: ModelMessageLike): void {
  expect(format.equals(format.decode(format.encode(message)), message)).toBe(true);
}

function textsOf(message: ModelMessageLike): [string, string][] {
  return format
    .pieces(message)
    .flatMap((piece): [string, string][] =>
      piece.type === "text" && piece.of !== "name" ? [[piece.text, piece.of]] : [],
    );
}

describe("any message", () => {
  test("with renamed calls", () => {
    holds((message) => {
      expect(format.renameCalls(message, (id) => id)).toBe(message);
      const renamed = format.renameCalls(message, (id) => `new ${id}`);
      survives(renamed);
      const back = format.renameCalls(renamed, (id) => id.slice("new ".length));
      expect(format.equals(back, message)).toBe(true);
      if (message.role === "user") return;
      for (const { id, providerExecuted } of format.toolCalls(renamed))
        expect(id.startsWith("new ") || providerExecuted === true).toBe(true);
      if (message.role !== "tool") return;
      for (const { id } of format.toolResults(renamed)) expect(id.startsWith("new ")).toBe(true);
    });
  });

  test("with renamed tools", () => {
    holds((message) => {
      expect(format.renameTools(message, (name) => name)).toBe(message);
      const renamed = format.renameTools(message, (name) => `new ${name}`);
      survives(renamed);
      const back = format.renameTools(renamed, (name) => name.slice("new ".length));
      expect(format.equals(back, message)).toBe(true);
      if (message.role === "user") return;
      for (const { name, providerExecuted } of format.toolCalls(renamed))
        expect(name.startsWith("new ") || providerExecuted === true).toBe(true);
      if (message.role !== "tool") return;
      for (const { name } of format.toolResults(renamed)) expect(name?.startsWith("new ")).toBe(true);
    });
  });

  test("without empty texts", () => {
    holds((message) => {
      for (const which of ["empty", "blank"] as const) {
        const isGone = ({ type, ...piece }: Piece): boolean =>
          type === "text" && "text" in piece && piece.of === "content" && emptied(piece.text, which);
        const copy = format.withoutEmptyText(message, which);
        const pieces = format.pieces(message);
        const left = pieces.filter((piece) => !isGone(piece));
        if (left.length === pieces.length && typeof message.content !== "string") {
          expect(copy).toBe(message);
          continue;
        }
        if (copy === undefined) {
          expect(left).toEqual([]);
          continue;
        }
        expect(described(format.pieces(copy))).toEqual(described(left));
        survives(copy);
      }
    });
  });

  test("with every text mapped", () => {
    holds((message) => {
      const seen: [string, string][] = [];
      const same = format.mapText(message, (text, of) => {
        seen.push([text, of]);
        return text;
      });
      expect(same).toBe(message);
      expect(seen).toEqual(textsOf(message));
      const changed = format.mapText(message, (text) => `!${text}`);
      survives(changed);
      expect(format.toolCalls(changed)).toEqual(format.toolCalls(message));
      expect(format.toolResults(changed)).toEqual(format.toolResults(message));
      // Inputs keep their kind, and so does what a tool of the provider's put out.
      const kept = message.role === "assistant" ? ["tool-call", "tool-result"] : ["tool-call"];
      for (const [text, of] of textsOf(changed)) if (!kept.includes(of)) expect(text).toMatch(/^!/);
      survives(format.mapText(message, (text) => text.slice(0, -1)));
    });
  });

  test("joined with another one", () => {
    fc.assert(
      fc.property(anyMessage, anyMessage, (first, second) => {
        const before = described([first, second]);
        const both = format.joined(first, second);
        expect(described([first, second])).toEqual(before);
        if (both === undefined) {
          const differs = ([key, member]: [string, unknown]): boolean =>
            key !== "content" &&
            Object.hasOwn(second, key) &&
            !format.equals(memberOf(second, key), member as never);
          expect(first.role === "system" || Object.entries(first).some(differs)).toBe(true);
          return;
        }
        expect(described(format.pieces(both))).toEqual(
          described([...format.pieces(first), ...format.pieces(second)]),
        );
        survives(both);
        for (const [key, member] of Object.entries({ ...first, ...second })) {
          if (key !== "content") expect(format.equals(memberOf(both, key), member as never)).toBe(true);
        }
      }),
    );
  });

  test("joined with itself has everything twice", () => {
    holds((message) => {
      const both = format.joined(message, copied(message) as ModelMessageLike);
      if (message.role === "system") expect(both).toBeUndefined();
      else expect(format.pieces(both as ModelMessageLike)).toHaveLength(2 * format.pieces(message).length);
    });
  });
});

function emptied(text: string, which: "empty" | "blank"): boolean {
  return (which === "blank" ? text.trim() : text) === "";
}

function memberOf(message: ModelMessageLike, key: string): never {
  return Object.getOwnPropertyDescriptor(message, key)?.value as never;
}
