import { utf8Length } from "@turnkeep/core/store-kit";
import { quote } from "../support/brief.ts";
import { expectEqual, expectThat, named } from "../support/expect.ts";
import { all, inPortions } from "../support/races.ts";
import { alike, hostilePieces, payloads, reservedIds } from "../support/texts.ts";
import type { HookContext, TestHooks } from "./hooks.ts";
import { hookSentences as sentences } from "./sentences.ts";

/** What the hooks must do in one respect. */
export interface HookCase {
  readonly name: string;
  /** The sentence of `KeyValueStoreOptions` that the case proves. */
  readonly sentence: string;
  /** Returns if the hooks keep it; otherwise throws an error that says what was expected and seen. */
  run(context: HookContext): Promise<void>;
}

const rounds = 10;
const writers = 12;

export const hookCases: readonly HookCase[] = [
  {
    name: "every client gets what was set last",
    sentence: sentences.get,
    async run({ one, two, key }) {
      const [first, second] = [key(), key()];
      await begin(one, first, "1");
      await begin(two, second, "2");
      for (const hooks of [one, two]) expectEqual("a value", await valueUnder(hooks, first), "1");
      await change(two, first, "3");
      for (const hooks of [one, two]) {
        expectEqual("the value that another client changed", await valueUnder(hooks, first), "3");
        expectEqual("the value under another key", await valueUnder(hooks, second), "2");
      }
    },
  },
  {
    name: "there is nothing under a key that is new or deleted",
    sentence: sentences.get,
    async run({ one, two, key }) {
      const name = key();
      expectEqual("get of a new key", await one.get(name), undefined);
      await begin(one, name, "1");
      await one.delete(name, undefined);
      for (const hooks of [one, two]) expectEqual("get of a deleted key", await hooks.get(name), undefined);
    },
  },
  {
    name: "a write without a revision happens where there is nothing, and only there",
    sentence: sentences.set,
    async run({ one, two, key }) {
      const name = key();
      await begin(one, name, "1");
      for (const hooks of [one, two]) {
        const wrote = await hooks.compareAndSet(name, "2", undefined);
        expectEqual("compareAndSet without a revision, where there is a value", wrote, false);
      }
      expectEqual("the value that was not to be overwritten", await valueUnder(two, name), "1");
      await one.delete(name, undefined);
      await begin(two, name, "3");
      expectEqual("the value after a delete and a write", await valueUnder(one, name), "3");
    },
  },
  {
    name: "a write with a revision happens over that one, and only over it",
    sentence: sentences.set,
    async run({ one, two, key }) {
      const name = key();
      await begin(one, name, "1");
      const first = await revisionOf(one, name);
      await change(two, name, "2");
      expectEqual("compareAndSet with an earlier revision", await one.compareAndSet(name, "3", first), false);
      expectEqual("the value that another client had changed", await valueUnder(one, name), "2");
      await one.delete(name, undefined);
      expectEqual(
        "compareAndSet with a revision, where nothing is",
        await two.compareAndSet(name, "4", first),
        false,
      );
      expectEqual("get of the deleted key", await one.get(name), undefined);
    },
  },
  {
    name: "a revision does not come back after a delete",
    sentence: sentences.revision,
    async run({ one, two, key }) {
      const name = key();
      const earlier: unknown[] = [];
      for (const value of ["first", "second", "third"]) {
        await (earlier.length === 0 ? begin(one, name, value) : change(one, name, value));
        earlier.push(await revisionOf(two, name));
      }
      await one.delete(name, undefined);
      for (const value of ["later", "later still", "last"]) {
        await (value === "later" ? begin(two, name, value) : change(two, name, value));
        for (const revision of earlier) {
          const what = "with a revision of before a delete";
          expectEqual(`compareAndSet ${what}`, await one.compareAndSet(name, "lost", revision), false);
          expectEqual(`delete ${what}`, await one.delete(name, revision), false);
          expectEqual(`the value after a write and a delete ${what}`, await valueUnder(one, name), value);
        }
      }
    },
  },
  {
    name: "of many writes at once over one revision, one happens",
    sentence: sentences.setAtOnce,
    async run({ one, two, key }) {
      const name = key();
      for (let round = 0; round < rounds; round++) {
        const revision = round === 0 ? undefined : await revisionOf(one, name);
        const values = Array.from({ length: writers }, (_, writer) => `${round}-${writer}`);
        const wrote = await Promise.all(
          values.map((value, writer) => (writer % 2 === 0 ? one : two).compareAndSet(name, value, revision)),
        );
        const won = values.filter((_, writer) => wrote[writer] === true);
        expectEqual(`how many of ${writers} writes over one revision said that they wrote`, won.length, 1);
        expectEqual("the value after writes at once", await valueUnder(two, name), won[0]);
      }
    },
  },
  {
    name: "what two clients add to one value at once is all there",
    sentence: sentences.setAtOnce,
    async run({ one, two, key }) {
      const name = key();
      await begin(one, name, "0");
      const add = async (hooks: TestHooks) => {
        for (let added = 0; added < rounds; ) {
          const { value, revision } = (await hooks.get(name)) ?? { value: "none", revision: undefined };
          if (await hooks.compareAndSet(name, String(Number(value) + 1), revision)) added++;
        }
      };
      await all([one, two, one, two].map(add));
      expectEqual("the sum of what was added", await valueUnder(one, name), String(4 * rounds));
    },
  },
  {
    name: "a delete removes the revision that it names, or else whatever there is",
    sentence: sentences.delete,
    async run({ one, two, key }) {
      const name = key();
      expectEqual("delete of what is not there", await one.delete(name, undefined), false);
      await begin(one, name, "1");
      const first = await revisionOf(one, name);
      await change(two, name, "2");
      expectEqual("delete of an earlier revision", await one.delete(name, first), false);
      expectEqual("the value that was not to be deleted", await valueUnder(one, name), "2");
      const second = await revisionOf(two, name);
      expectEqual("delete of the revision in place", await one.delete(name, second), true);
      expectEqual("get of the deleted key", await two.get(name), undefined);
      expectEqual("delete of that revision again", await two.delete(name, second), false);
      await begin(two, name, "3");
      expectEqual("delete without a revision", await one.delete(name, undefined), true);
      expectEqual("get of the key that was deleted again", await two.get(name), undefined);
    },
  },
  {
    name: "of a write and a delete at once over one revision, one happens",
    sentence: sentences.deleteAtOnce,
    async run({ one, two, key }) {
      for (let round = 0; round < rounds; round++) {
        const name = key();
        await begin(one, name, "1");
        const revision = await revisionOf(two, name);
        const write = () => one.compareAndSet(name, "2", revision);
        const remove = () => two.delete(name, revision);
        const calls = round % 2 === 0 ? [write(), remove()] : [remove(), write()].reverse();
        const [wrote, removed] = await Promise.all(calls);
        expectEqual(
          "how many of a write and a delete said that they happened",
          [wrote, removed].filter(Boolean),
          [true],
        );
        expectEqual("the value after them", (await one.get(name))?.value, wrote === true ? "2" : undefined);
      }
    },
  },
  {
    name: "keys of every kind are kept apart",
    sentence: sentences.keys,
    async run({ one, two, keys }) {
      const pairs = alike.flatMap(([, left, right]) => [left, right]);
      const ends = [...new Set([...hostilePieces, ...reservedIds, ...pairs, "x".repeat(248)])];
      const values = keys(ends).map((key, index) => [key, String(index)] as const);
      await inPortions(values, ([key, value]) => begin(one, key, value));
      await inPortions(values, async ([key, value], index) =>
        expectEqual(
          `the value under a key that ends in ${quote(ends[index] ?? "")}`,
          await valueUnder(two, key),
          value,
        ),
      );
    },
  },
  {
    name: "a value comes back character for character",
    sentence: sentences.values,
    async run({ one, two, key, mostBytes }) {
      const largest = (unit: string) => {
        const text = unit.repeat(mostBytes / utf8Length(unit));
        return [`a text of ${utf8Length(text)} bytes`, text] as const;
      };
      for (const [what, text] of [...payloads, largest("x"), largest("é🙂")]) {
        const name = key();
        await named(`compareAndSet of ${what}`, begin(one, name, text));
        const value = await named(`get of ${what}`, valueUnder(two, name));
        expectEqual(`the value that is ${what}`, value, text);
      }
    },
  },
  {
    name: "a list holds each key once, in one order, page by page",
    sentence: sentences.list,
    async run({ one, two, keys }) {
      const { list } = one;
      if (list === undefined) return;
      const made = keys(["b", "a", "c", "é", "A", "🙂", "b/", "%"]);
      for (const name of made) await begin(two, name, "1");
      const pages = async (limit: number, visit: (last: string) => Promise<unknown>) => {
        const found: string[] = [];
        for (let after: string | undefined; ; ) {
          const page: unknown = await list({ after, limit });
          expectThat("list answers an array of keys", isTexts(page), page);
          expectThat(`a page of ${limit} keys holds no more`, page.length <= limit, page.length);
          const last = page.at(-1);
          if (last === undefined) return found;
          expectThat("a listing goes on", last !== after && !found.includes(last), last);
          found.push(...page.filter((name) => made.includes(name)));
          after = last;
          await visit(last);
        }
      };
      const order = await pages(1000, async () => {});
      expectEqual("the keys on the pages of 1,000", [...order].sort(), [...made].sort());
      // Other keys of the database may stand between them.
      expectEqual("the keys on the pages of 3", await pages(3, async () => {}), order);
      const remove = async (last: string) => made.includes(last) && (await two.delete(last, undefined));
      expectEqual("the keys on the pages of 2, each page's last deleted", await pages(2, remove), order);
    },
  },
];

async function begin(hooks: TestHooks, key: string, value: string): Promise<void> {
  expectEqual("compareAndSet where nothing is", await hooks.compareAndSet(key, value, undefined), true);
}

async function change(hooks: TestHooks, key: string, value: string): Promise<void> {
  const wrote = await hooks.compareAndSet(key, value, await revisionOf(hooks, key));
  expectEqual("compareAndSet with the revision in place", wrote, true);
}

async function valueUnder(hooks: TestHooks, key: string): Promise<string | undefined> {
  return (await hooks.get(key))?.value;
}

async function revisionOf(hooks: TestHooks, key: string): Promise<unknown> {
  const entry = await hooks.get(key);
  expectThat("get answers a value with its revision", entry?.revision != null, entry);
  return entry.revision;
}

function isTexts(page: unknown): page is string[] {
  return Array.isArray(page) && page.every((name) => typeof name === "string");
}
