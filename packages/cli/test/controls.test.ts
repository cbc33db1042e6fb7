import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import {
  assistant,
  type ChatMemoryStore,
  createChatMemory,
  inMemoryStore,
  toolCall,
  user,
} from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { replay } from "../src/index.ts";
import { jsonLine, oneLine } from "../src/terminal/controls.ts";
import { testFile, testFolder } from "./folder.ts";
import { inProcess } from "./in-process.ts";
import type { Ended } from "./process.ts";

/** All of Unicode's controls, of direction too, and what ends a line. */
const controls = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((character) => /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u.test(character));
/** As ids, names and arguments may hold them. */
const hostile = `a${controls.filter((character) => character !== "\0").join("b")}c`;
/** As a file's name may: it holds no path, and has 255 bytes at most. */
const hostileName = (from: number): string =>
  `a${controls
    .slice(from, from + 60)
    .join("b")
    .replace(/[\0/]/g, "")}c`;

const run = (...args: string[]): Promise<Ended> => inProcess(args, 140);

function expectNeutral(text: string): void {
  const found = controls.filter((character) => character !== "\n" && text.includes(character));
  expect(found.map((character) => character.codePointAt(0)?.toString(16))).toEqual([]);
}

/** What an error says stands in its own lines: a name with a line end in it begins none. */
function expectTold({ status, out, err }: Ended): void {
  expect(status).toBeGreaterThan(0);
  expectNeutral(out + err);
  for (const line of err.trimEnd().split("\n"))
    expect(line).toMatch(/^(?:turnkeep: | {2}cause: | {4}at |See turnkeep)/);
}

function exporting(expression: string): string {
  const path = join(testFolder(), "store.mjs");
  writeFileSync(path, `export default ${expression};\n`);
  return path;
}

/** A file that exports that store of this process. */
function placeOf(store: ChatMemoryStore): string {
  const name = `hostile${Math.random()}`;
  Object.assign(globalThis, { [name]: { ...store, close: async () => {} } });
  return exporting(`globalThis[${JSON.stringify(name)}]`);
}

it("knows the controls that matter", () => {
  for (const code of [0, 0x1b, 0x7f, 0x85, 0x9b, 0x200e, 0x2028, 0x2029, 0x202e, 0x2066, 0x2069, 0x61c])
    expect(controls).toContain(String.fromCodePoint(code));
  expect(oneLine(controls.join(""))).toBe("");
  const family = "👨‍👩‍👧 می‌خواهم";
  expect(oneLine(family)).toBe(family);
});

it("JSON is the same data, and holds no control", () => {
  const value = { [hostile]: [controls.join(""), "\ud800", "👨‍👩‍👧"] };
  const line = jsonLine(value);
  expect(JSON.parse(line)).toEqual(value);
  expectNeutral(line.slice(0, -1));
  expect(line).toContain("\\u009b");
  expect(line.match(/\n/g)).toHaveLength(1);
});

describe("inspect", () => {
  async function filled(): Promise<{ store: ChatMemoryStore; place: string }> {
    const store = inMemoryStore();
    const memory = createChatMemory({ id: hostile, store, owner: hostile });
    await memory.add(
      user(controls.join("b")),
      assistant(hostile),
      toolCall("c", hostile, { [hostile]: hostile }),
    );
    const { version, nextSeq } = await store.getMessages(hostile);
    const foreign = [
      JSON.stringify({ format: hostile, version: 1, message: {} }),
      JSON.stringify({ format: "model-message", version: hostile, message: {} }),
      JSON.stringify({ format: "model-message", version: 1, message: { role: hostile, content: hostile } }),
      hostile,
    ];
    const meta = JSON.stringify({ tokens: { [hostile]: 1 }, derived: { through: hostile } });
    const append = foreign.map((payload, index) => {
      return { id: `${hostile}${index}`, seq: nextSeq + index, createdAt: 0, payload, meta };
    });
    const change = { expected: version, version: `${hostile}2`, nextSeq: nextSeq + append.length };
    await store.updateMessages(hostile, { ...change, append, replace: [], move: [] });
    return { store, place: placeOf(store) };
  }

  it.each([[], ["--owner", hostile], [hostile], [hostile, "--all"]])(
    "shows people nothing that is obeyed (%#)",
    async (...args) => {
      const { place } = await filled();
      const { status, out, err } = await run("inspect", "--store", place, ...args);
      expect({ status, err }).toEqual({ status: 0, err: "" });
      expectNeutral(out);
      expect(out.trimEnd().split("\n").length).toBeLessThan(18);
    },
  );

  it.each([[], [hostile]])("gives programs what is stored (%#)", async (...args) => {
    const { store, place } = await filled();
    const { out } = await run("inspect", "--store", place, "--json", ...args);
    expectNeutral(out);
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    if (args.length === 0) {
      const { memories } = await store.listMemories({});
      expect(lines).toEqual(memories);
    } else {
      expect(lines[0].message.content).toBe(controls.join("b"));
      expect(lines.at(-1)).toMatchObject({ id: `${hostile}3`, payload: hostile });
    }
  });

  it("shows what a store of its own makes up as plainly", async () => {
    const { store } = await filled();
    const made = { seq: hostile, createdAt: hostile, state: hostile };
    const place = placeOf({
      ...store,
      getHistory: async (id, query) => {
        const page = await store.getHistory(id, query);
        return { ...page, messages: page.messages.map((message) => ({ ...message, ...(made as object) })) };
      },
    });
    expectNeutral((await run("inspect", "--store", place, hostile)).out);
  });
});

it("replay shows people nothing that is obeyed", async () => {
  const messages = [
    { role: "user", content: hostile },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: hostile, arguments: hostile } }],
    },
    { role: "tool", tool_call_id: "c", content: hostile },
    { role: "assistant", content: controls.join("b").repeat(20) },
  ];
  const folder = join(testFolder(), hostileName(0));
  mkdirSync(folder);
  const good = testFile([
    { id: hostile.slice(0, 150), messages },
    { id: "b", messages: [{ role: hostile, content: 1 }] },
    hostile.replaceAll("\n", ""),
  ]);
  for (const quiet of [false, true]) {
    let shown = "";
    const write = (text: string): void => {
      shown += text;
    };
    const store = placeOf(inMemoryStore());
    await replay({ files: [good], store, explain: true, maxTokens: 4_000, secondHalf: "here", write, quiet });
    expectNeutral(shown);
    expect(shown).toContain("skipped");
  }
});

describe("an error", () => {
  it.each([
    [[hostile]],
    [["replay", `--${hostile}`]],
    [["inspect", `--${hostile}`]],
    [["inspect", `-${hostile}`]],
    [["inspect", "--store", "x", "--limit", hostile]],
    [["inspect", "--store", hostile]],
    [["inspect", "--store", `${hostile}.mjs`]],
    [["inspect", "--store", `${hostile}://host`]],
    [["inspect", "--store", `postgres://${hostile}@127.0.0.1:1/x`]],
    [["inspect", "--store", "x", "--json", hostile, hostile]],
    [["replay", hostile]],
    [["replay", "--unit", hostile]],
    [["replay", "--run", hostile]],
    [["replay", "--profile", hostile]],
    [["replay", "--max-tokens", hostile]],
  ])("repeats no argument as it was given (%#)", async (args) => {
    const ended = await run(...args);
    if (args.length === 1) expectNeutral(ended.err);
    else expectTold(ended);
  });

  it("of a file, a folder and a store is told in lines of its own", async () => {
    const folder = testFolder();
    const file = join(folder, hostileName(8));
    writeFileSync(file, "");
    expectTold(await run("replay", "--store", file));
    expectTold(await run("inspect", "--store", join(folder, hostileName(20))));
    const throwing = `Object.assign(new Error(text, { cause: new Error(text, { cause: text }) }), { code: text })`;
    const text = `const text = ${JSON.stringify(hostile)};`;
    expectTold(await run("inspect", "--store", exporting(`(() => { ${text} throw ${throwing}; })`)));
    expectTold(await run("inspect", "--store", exporting(`(() => { ${text} throw text; })`)));
    const store = `Object.fromEntries(["getMessages", "updateMessages", "getHistory", "listMemories"].map((name) => [name, async () => { throw ${throwing}; }]))`;
    expectTold(
      await run("inspect", "--store", exporting(`(() => { ${text} return { ...${store}, close() {} }; })`)),
    );
  });

  it("says that a memory is not there in one line", async () => {
    const { status, err } = await run("inspect", "--store", placeOf(inMemoryStore()), hostile);
    expect(status).toBe(1);
    expectNeutral(err);
    expect(err.match(/\n/g)).toHaveLength(1);
  });
});
