import * as fc from "fast-check";
import { expect, it } from "vitest";
import { joinNeighbours } from "../src/processors.ts";

/** A message as text: `r` is a result, `u` what a user says. One with a `u` is the user's. */
const format = { joined: (first: string, second: string) => first + second };

/** As some providers want it: neighbours of one role are one message, and so are two that both hold results. */
const mayJoin = (first: string, second: string): boolean =>
  first.includes("u") === second.includes("u") || (first.includes("r") && second.includes("r"));

it("joins what was joined with what stands behind and before it", () => {
  expect(joinNeighbours(["ru", "r", "u"], { format, mayJoin })).toEqual(["ruru"]);
  expect(joinNeighbours(["u", "r", "ru"], { format, mayJoin })).toEqual(["urru"]);
  expect(joinNeighbours(["u", "r", "u"], { format, mayJoin })).toEqual(["u", "r", "u"]);
});

it("leaves no two neighbours that could be one, wherever the list is halved", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("r", "u", "ru"), { maxLength: 20 }), (messages) => {
      const joined = joinNeighbours(messages, { format, mayJoin });
      expect(joined.join("")).toBe(messages.join(""));
      for (const [index, message] of joined.slice(1).entries())
        expect(mayJoin(joined[index] as string, message)).toBe(false);
    }),
  );
});
