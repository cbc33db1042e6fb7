import type { MessageFormat, Piece } from "@turnkeep/core";
import fc from "fast-check";
import { expect, it } from "vitest";

/** What must hold of any message, checked over messages of every kind and over each kind alone. */
export function testProperties<M>(options: {
  readonly format: MessageFormat<M>;
  readonly message: fc.Arbitrary<M>;
  /** By what makes the kind, such as a block's type. */
  readonly kinds?: readonly (readonly [string, fc.Arbitrary<M>])[];
  /** Whether leaving media out leaves some in place. */
  readonly keepsMedia?: (message: M) => boolean;
  /** Whether text stands inside a medium, and leaves with it. */
  readonly hasTextInMedia?: (message: M) => boolean;
  /** Whether a message without reasoning may be bound to another one's, and is not when it is left out. */
  readonly isBound?: (message: M) => boolean;
  /** Whether results are messages of their own, and stand in none with their calls. Default: they are. */
  readonly resultsStandApart?: boolean;
}): void {
  const { format, message: anyMessage, kinds = [] } = options;
  const { keepsMedia = () => false, hasTextInMedia = () => false, resultsStandApart = true } = options;
  const { isBound = () => false } = options;

  const roundTrip = (message: M): void => {
    const before = structuredClone(message);
    const encoded = format.encode(message);
    const decoded = format.decode(encoded);
    expect(decoded).toStrictEqual(before);
    expect(message).toStrictEqual(before);
    expect(format.equals(decoded, message)).toBe(true);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what a store refuses
    expect(encoded).not.toMatch(/\u0000|\p{Surrogate}/u);
  };

  it.each(kinds)("gives back what it encoded, to the last member: %s", (_, arbitrary) => {
    fc.assert(fc.property(arbitrary, roundTrip));
  });

  it("gives back what it encoded, whatever stands together", () => {
    fc.assert(fc.property(anyMessage, roundTrip));
  });

  it("tells apart messages that differ in a member, and only those", () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const reversed = Object.fromEntries(Object.entries(message as object).reverse()) as M;
        expect(format.equals(message, reversed)).toBe(true);
        expect(format.equals(message, { ...message, x_absent: undefined })).toBe(true);
        expect(format.equals(message, { ...message, x_more: 1 })).toBe(false);
      }),
    );
  });

  it("tells of calls and results what a copy without them no longer tells", () => {
    fc.assert(
      fc.property(anyMessage, fc.constantFrom("call_1", "call_2"), (message, victim) => {
        const before = structuredClone(message);
        const isVictim = (id: string): boolean => id === victim;
        const copy = format.without(message, { toolCalls: isVictim, toolResults: isVictim });
        expect(message).toStrictEqual(before);
        const [calls, results] = [format.toolCalls(message), format.toolResults(message)];
        if ([...calls, ...results].every(({ id }) => id !== victim)) {
          expect(copy).toBe(message);
          return;
        }
        const [keptCalls, keptResults] = [calls, results].map((all) => all.filter(({ id }) => id !== victim));
        if (copy === undefined) {
          expect(keptCalls).toEqual([]);
          return;
        }
        expect(format.toolCalls(copy)).toEqual(keptCalls);
        expect(format.toolResults(copy)).toEqual(keptResults);
        expect(format.isEmpty(copy)).toBe(false);
        roundTrip(copy);
      }),
    );
  });

  it("leaves out media and reasoning, and nothing that is neither", () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const before = structuredClone(message);
        const copy = format.without(message, { media: true, reasoning: true });
        expect(message).toStrictEqual(before);
        const pieces = format.pieces(message);
        // What OpenAI ran goes with the reasoning that led to it, which may be another part of the answer.
        const own = format.toolCalls(message).filter((call) => call.providerExecuted !== true);
        const mayBeBound = format.hasReasoning(message) || format.answersInParts === true;
        if (mayBeBound && own.length < format.toolCalls(message).length) {
          expect(copy === undefined ? [] : format.toolCalls(copy)).toEqual(expect.arrayContaining(own));
          return;
        }
        if (!format.hasReasoning(message) && pieces.every((piece) => piece.type === "text")) {
          if (!isBound(message)) expect(copy).toBe(message);
          expect(copy && format.pieces(copy)).toEqual(pieces);
          return;
        }
        const left = copy === undefined ? [] : format.pieces(copy).filter((piece) => !isBlank(piece));
        const media = left.filter((piece) => piece.type === "media");
        if (!keepsMedia(message)) expect(media).toEqual([]);
        expect(isPartOf(left, pieces)).toBe(true);
        if (!hasTextInMedia(message)) expect(left.filter(isSaid)).toEqual(pieces.filter(isSaid));
        if (copy === undefined) {
          expect(format.toolCalls(message)).toEqual([]);
          return;
        }
        expect(format.hasReasoning(copy)).toBe(false);
        expect(format.toolCalls(copy)).toEqual(format.toolCalls(message));
        expect(format.toolResults(copy)).toEqual(format.toolResults(message));
        roundTrip(copy);
      }),
    );
  });

  if (!resultsStandApart) return;

  it("answers each call with a result that names it and can be stored", () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const calls = format.toolCalls(message).filter((call) => call.providerExecuted !== true);
        const results = format.interruptedResults(calls, "interrupted");
        expect(results.flatMap((result) => format.toolResults(result)).map(({ id }) => id)).toEqual(
          calls.map(({ id }) => id),
        );
        for (const result of results) {
          expect(format.role(result)).toBe("tool");
          expect(format.isEmpty(result)).toBe(false);
          roundTrip(result);
        }
      }),
    );
  });
}

/** Whether the values stand among the others, in their order. */
function isPartOf(values: readonly unknown[], all: readonly unknown[]): boolean {
  let at = 0;
  for (const value of all) if (at < values.length && isSame(value, values[at])) at++;
  return at === values.length;
}

/** Stands where nothing but media stood. */
function isBlank(piece: Piece): boolean {
  return piece.type === "text" && piece.text === "";
}

/** A text that is no reasoning. */
function isSaid(piece: Piece): boolean {
  return piece.type === "text" && piece.of !== "reasoning" && piece.of !== "name" && piece.text.trim() !== "";
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
