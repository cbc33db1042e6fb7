import { expect, test } from "vitest";
import { modelMessageFormat } from "../src/format/model-message-format.ts";
import { assistant, user } from "../src/index.ts";
import { stepsOf } from "../src/steps/live.ts";
import { groupsOf } from "../src/window/groups.ts";
import { units } from "../src/window/units/units.ts";

const messages = Array.from({ length: 1000 }, (_, index) => (index % 2 === 0 ? user("?") : assistant("!")));

/** How often an element of the list was asked for. */
function counted<T>(list: readonly T[]): { readonly list: readonly T[]; reads: number } {
  const counting = {
    reads: 0,
    list: new Proxy(list, {
      get(target, name, receiver) {
        if (typeof name === "string" && /^\d+$/.test(name)) counting.reads++;
        return Reflect.get(target, name, receiver);
      },
    }),
  };
  return counting;
}

test.each([
  ["step", 1],
  ["turn", 2],
] as const)(
  "by %s, a window that lets the oldest go looks at nothing between it and the newest",
  (unit, size) => {
    const steps = counted(stepsOf(messages, modelMessageFormat));
    const { older, newest } = groupsOf(steps.list, units[unit]);
    const [oldest] = older;
    expect(oldest?.flatMap(({ items }) => items.map(({ seq }) => seq))).toEqual(
      unit === "step" ? [0] : [0, 1],
    );
    expect(newest).toHaveLength(size);
    expect(steps.reads).toBeLessThan(10);
  },
);
