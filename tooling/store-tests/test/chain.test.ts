import { expect, test } from "vitest";
import { Chain } from "../src/chain.ts";
import { message, update } from "../src/updates.ts";

/** A chain of updates a, b, c of one life, each with a message. */
function chainOf(...names: string[]): Chain {
  const chain = new Chain();
  for (const [index, version] of names.entries()) {
    const append = [message(index + 1)];
    chain.add(update(names[index - 1] ?? null, index + 2, { version, append }));
  }
  return chain;
}

async function seen(chain: Chain, ...versions: (string | null)[]): Promise<string | undefined> {
  for (const version of versions) await chain.observe(async () => ({ version }));
  return chain.fault();
}

test("knows what a memory holds at each version, and which updates lead from one to another", () => {
  const chain = chainOf("a", "b", "c");
  expect(chain.at("b").map(({ seq }) => seq)).toEqual([1, 2]);
  expect(chain.between("a", "c")?.map(({ version }) => version)).toEqual(["b", "c"]);
  expect(chain.between("c", "a")).toBeUndefined();
  expect(() => chain.at("d")).toThrow("Nobody made version d");
});

test("finds nothing where all was seen in order, and updates that nobody saw", async () => {
  const chain = chainOf("a", "b", "c");
  chain.add(update("a", 3, { version: "refused" }));
  chain.add(update(null, 2, { version: "next life" }));
  expect(await seen(chain, null, "a", "a", "c", null, "next life")).toBeUndefined();
});

test("finds an update that took the place of another", async () => {
  const chain = chainOf("a", "b", "c");
  chain.add(update("a", 3, { version: "other" }));
  expect(await seen(chain, "c", "other")).toContain("took the place of a");
});

test("finds a version that was seen after a later one", async () => {
  expect(await seen(chainOf("a", "b", "c"), "a", "c", "b")).toBe("b was seen after a later version had been");
});

test("finds a life that went on after the memory was absent, or after another had begun", async () => {
  expect(await seen(chainOf("a", "b"), "a", null, "b")).toContain("went on after it had ended");
  const chain = chainOf("a", "b");
  chain.add(update(null, 2, { version: "next life" }));
  expect(await seen(chain, "a", "next life", "b")).toContain("overlap");
});

test("takes calls that overlap in time for made in any order", async () => {
  const chain = chainOf("a", "b");
  let answer = (_: { version: string }): void => {};
  const slow = chain.observe(
    () =>
      new Promise<{ version: string }>((resolve) => {
        answer = resolve;
      }),
  );
  await seen(chain, "b");
  answer({ version: "a" });
  await slow;
  expect(chain.fault()).toBeUndefined();
});
