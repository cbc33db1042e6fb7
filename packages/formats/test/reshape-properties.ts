import type { MessageFormat, Piece, TextPlace, ToolCallRef } from "@turnkeep/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import { WithoutUnsent } from "../src/profiles/rules/unsent.ts";

/** What must hold of any message that is shaped for a provider or by a processor. */
export function testReshaping<M extends object>(options: {
  readonly format: MessageFormat<M>;
  readonly message: fc.Arbitrary<M>;
  /** The message without what only the provider can read. */
  readonly readable?: (message: M) => M;
  /** Whether the ids of the provider's own calls stay. */
  readonly keepsProvidersIds?: (message: M) => boolean;
  /** Whether a call says its tool's name, and is not called by what kind of call it is. */
  readonly namesTool?: (call: ToolCallRef) => boolean;
  /** The message with an empty name in each call that has none. */
  readonly withNames?: (message: M) => M;
  /** Whether some of a message's content is a text inside a part that is no text itself. */
  readonly nestsText?: (message: M) => boolean;
}): void {
  const {
    message: anyMessage,
    readable = (message) => message,
    nestsText = () => false,
    keepsProvidersIds = () => true,
    namesTool = () => true,
    withNames = (message) => message,
  } = options;
  const format = options.format as Required<MessageFormat<M>>;

  const survives = (message: M): void => {
    expect(format.decode(format.encode(message))).toStrictEqual(structuredClone(message));
  };
  const holds = (check: (message: M) => void): void => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const before = structuredClone(message);
        check(message);
        expect(message).toStrictEqual(before);
      }),
    );
  };
  const textsOf = (message: M): [string, TextPlace][] => {
    return format
      .pieces(readable(message))
      .flatMap((piece): [string, TextPlace][] =>
        piece.type === "text" && piece.of !== "name" ? [[piece.text, piece.of]] : [],
      );
  };

  it("says a text in a message of its own", () => {
    for (const role of ["user", "assistant"] as const) {
      const message = format.textMessage(role, "Go on.");
      expect(format.role(message)).toBe(role);
      expect(format.pieces(message)).toEqual([{ type: "text", text: "Go on.", of: "content" }]);
      survives(message);
    }
  });

  it("renames its calls, and back", () => {
    holds((message) => {
      expect(format.renameCalls(message, (id) => id)).toBe(message);
      const renamed = format.renameCalls(message, (id) => `new-${id}`);
      survives(renamed);
      expect(format.renameCalls(renamed, (id) => id.replace(/^new-/, ""))).toStrictEqual(message);
      const calls = format.toolCalls(message).map((call) => {
        // What has no id on the wire is paired by its name, behind a blank.
        const keepsId =
          (call.providerExecuted === true && keepsProvidersIds(message)) || call.id.includes(" ");
        return { ...call, id: keepsId ? call.id : `new-${call.id}` };
      });
      expect(format.toolCalls(renamed)).toEqual(calls);
    });
  });

  it("renames its tools, and back", () => {
    holds((message) => {
      expect(format.renameTools(message, (name) => name)).toBe(message);
      const renamed = format.renameTools(message, (name) => `new-${name}`);
      survives(renamed);
      const back = format.renameTools(renamed, (name) => name.slice("new-".length));
      expect(back).toStrictEqual(withNames(message));
      const calls = format.toolCalls(message).map((call) => {
        if (call.providerExecuted === true || !namesTool(call)) return call;
        const name = `new-${call.name}`;
        // What has no id on the wire is paired by its name, behind a blank.
        const id = call.id.includes(" ") ? call.id.slice(0, call.id.indexOf(" ") + 1) + name : call.id;
        return { ...call, id, name };
      });
      expect(format.toolCalls(renamed)).toEqual(calls);
      if (format.role(message) !== "tool") return;
      const names = format
        .toolResults(message)
        .map(({ name }) => (name === undefined ? undefined : `new-${name}`));
      expect(format.toolResults(renamed).map(({ name }) => name)).toEqual(names);
    });
  });

  it("loses its empty texts, and nothing else", () => {
    holds((message) => {
      for (const which of ["empty", "blank"] as const) {
        const isGone = (text: string): boolean => (which === "blank" ? text.trim() : text) === "";
        const copy = format.withoutEmptyText(message, which);
        if (copy === message || format.visit?.(message, new WithoutUnsent()) === undefined) continue;
        const kept = format
          .pieces(message)
          .filter((piece) => piece.type !== "text" || piece.of !== "content" || !isGone(piece.text));
        // A document whose text is empty goes with what is said about it.
        const isAbout = (piece: Piece): boolean =>
          piece.type === "text" && (piece.of === "name" || nestsText(message));
        const beside = kept.filter((piece) => !isAbout(piece));
        if (copy === undefined) {
          expect(beside).toEqual([]);
          continue;
        }
        const left = format.pieces(copy);
        if (nestsText(message)) expect(left.filter((piece) => !isAbout(piece))).toEqual(beside);
        else expect(left).toEqual(kept);
        survives(copy);
      }
      const copy = format.withoutEmptyText(message, "empty");
      if (copy === undefined || nestsText(message)) return;
      for (const piece of format.pieces(copy))
        if (piece.type === "text" && piece.of === "content") expect(piece.text).not.toBe("");
    });
  });

  it("gives every text to be changed", () => {
    holds((message) => {
      const seen: [string, TextPlace][] = [];
      const same = format.mapText(message, (text, of) => {
        seen.push([text, of]);
        return text;
      });
      expect(same).toBe(message);
      expect(seen).toEqual(textsOf(message));
    });
  });

  it("stays a message of its kind when its texts change", () => {
    holds((message) => {
      for (const change of [
        (text: string) => `!${text}`,
        (text: string) => text.slice(0, -1),
        (text: string) => text.replace(/[a-e1-5]/g, "*"),
        () => "null",
        () => '{"type":"other"}',
      ]) {
        const changed = format.mapText(message, change);
        survives(changed);
        expect(format.role(changed)).toBe(format.role(message));
        expect(format.toolCalls(changed)).toEqual(format.toolCalls(message));
        expect(format.toolResults(changed)).toEqual(format.toolResults(message));
        const media = (of: M): number => format.pieces(of).filter((piece) => piece.type === "media").length;
        expect(media(changed)).toBe(media(message));
      }
    });
  });

  it("holds what both held, when it is joined with another", () => {
    const pair = fc.tuple(anyMessage, anyMessage);
    fc.assert(
      fc.property(pair, ([first, second]) => {
        const before = structuredClone([first, second]);
        const both = format.joined(first, second);
        expect([first, second]).toStrictEqual(before);
        if (both === undefined) return;
        survives(both);
        // An empty text says nothing.
        const saidIn = (message: M): readonly Piece[] =>
          format
            .pieces(message)
            .filter((piece) => piece.of !== "name" && !("text" in piece && piece.text === ""));
        expect(sorted(saidIn(both))).toEqual(sorted([first, second].flatMap(saidIn)));
        for (const tell of [format.toolCalls, format.toolResults, format.approvals])
          expect(tell(both)).toEqual([...tell(first), ...tell(second)]);
        expect(format.role(both)).not.toBe("system");
        expect([format.isBoundary(first), format.isBoundary(second)]).toEqual([false, false]);
      }),
    );
  });
}

function sorted(values: readonly unknown[]): string[] {
  return values.map((value) => JSON.stringify(value)).sort();
}
