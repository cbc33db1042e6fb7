import fc from "fast-check";
import { expect, test } from "vitest";
import { Line } from "../src/steps/line.ts";

type Command = readonly ["push" | "delete", value: string] | readonly ["pop"];

const value = fc.constantFrom("a", "b", "c", "d");
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.tuple(fc.constant("push" as const), value),
  fc.tuple(fc.constant("push" as const), value),
  fc.tuple(fc.constant("delete" as const), value),
  fc.tuple(fc.constant("pop" as const)),
);

/** What the class's comments say, of a list. */
function follow(list: string[], [name, one]: Command): string | undefined {
  if (name === "pop") return list.pop();
  if (name === "push") list.push(one);
  else {
    const at = list[0] === one ? 0 : list.lastIndexOf(one);
    if (at >= 0) list.splice(at, 1);
  }
  return undefined;
}

test("values come and go as in a list", () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 200, size: "max" }), (commands) => {
      const line = new Line<string>();
      const list: string[] = [];
      for (const one of commands) {
        const [name, given] = one;
        if (name === "pop") expect(line.pop()).toBe(follow(list, one));
        else {
          line[name](given);
          follow(list, one);
        }
        expect([...line]).toEqual(list);
        expect(line.newest).toBe(list.at(-1));
        expect(line.isEmpty).toBe(list.length === 0);
      }
    }),
  );
});
