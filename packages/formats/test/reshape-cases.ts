import type { MessageFormat } from "@turnkeep/core";
import { expect, it } from "vitest";

/** Written cases of what shapes a message. A case without a result answers the message itself. */
export interface ReshapeCases<M> {
  /** Every id gets `new-` in front. */
  readonly renamed: readonly (readonly [name: string, message: M, expected?: M])[];
  /** Every tool's name gets `new-` in front. */
  readonly named: readonly (readonly [name: string, message: M, expected?: M])[];
  readonly joined: readonly (readonly [name: string, first: M, second: M, expected: M | undefined])[];
  readonly emptied: readonly (readonly [
    name: string,
    message: M,
    which: "empty" | "blank",
    expected: M | undefined,
  ])[];
  /** What holds nothing to leave out, blank or empty. */
  readonly full: readonly (readonly [name: string, message: M])[];
  /** Every `secret` becomes `…`. */
  readonly mapped: readonly (readonly [name: string, message: M, expected?: M])[];
  /** Every text is cut to its first four characters. */
  readonly cut: readonly (readonly [name: string, message: M, expected?: M])[];
}

export function testReshapeCases<M>(given: MessageFormat<M>, cases: ReshapeCases<M>): void {
  const format = given as Required<MessageFormat<M>>;
  const answers = (message: M, expected: M | undefined, answer: () => M | undefined): void => {
    const before = structuredClone(message);
    const result = answer();
    if (expected === undefined) expect(result).toBe(message);
    else expect(result).toStrictEqual(expected);
    expect(message).toStrictEqual(before);
  };

  for (const [name, message, expected] of cases.renamed) {
    it(`renames the calls of ${name}`, () => {
      answers(message, expected, () => format.renameCalls(message, (id) => `new-${id}`));
    });
  }

  for (const [name, message, expected] of cases.named) {
    it(`renames the tools of ${name}`, () => {
      answers(message, expected, () => format.renameTools(message, (tool) => `new-${tool}`));
    });
  }

  for (const [name, first, second, expected] of cases.joined) {
    it(`joins ${name}`, () => {
      const before = structuredClone([first, second]);
      expect(format.joined(first, second)).toStrictEqual(expected);
      expect([first, second]).toStrictEqual(before);
    });
  }

  for (const [name, message, which, expected] of cases.emptied) {
    it(`leaves out the ${which} texts of ${name}`, () => {
      const before = structuredClone(message);
      expect(format.withoutEmptyText(message, which)).toStrictEqual(expected);
      if (expected !== undefined) expect(format.withoutEmptyText(expected, which)).toBe(expected);
      expect(message).toStrictEqual(before);
    });
  }

  for (const [name, message] of cases.full) {
    it(`leaves nothing out of ${name}`, () => {
      expect(format.withoutEmptyText(message, "empty")).toBe(message);
      expect(format.withoutEmptyText(message, "blank")).toBe(message);
    });
  }

  for (const [name, message, expected] of cases.mapped) {
    it(`changes the texts of ${name}`, () => {
      answers(message, expected, () => format.mapText(message, (text) => text.replaceAll("secret", "…")));
    });
  }

  for (const [name, message, expected] of cases.cut) {
    it(`keeps the shape of ${name}, when its text is cut`, () => {
      answers(message, expected, () => format.mapText(message, (text) => text.slice(0, 4)));
    });
  }
}
