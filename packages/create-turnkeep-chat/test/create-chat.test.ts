import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createChat } from "../src/index.ts";
import { main } from "../src/main.ts";

const own = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const template = new URL("../template/", import.meta.url);

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "turnkeep-create-"));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

interface Ran {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

function run(args: readonly string[], nodeVersion = "24.0.0"): Ran {
  let [out, err] = ["", ""];
  const status = main(args, {
    nodeVersion,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { status, out, err };
}

test("a chat has the template's files, a name, versions and a .gitignore", () => {
  const folder = join(parent, "my-chat");
  const versions = Object.fromEntries(
    Object.keys(own.devDependencies).map((name, index) => [name, `^${index}.0.0`]),
  );
  expect(createChat(folder, versions)).toBe("my-chat");
  const files = readdirSync(folder, { recursive: true }).sort();
  expect(files).toEqual([...readdirSync(template, { recursive: true }), ".gitignore"].sort());
  expect(readFileSync(join(folder, ".gitignore"), "utf8")).toBe("node_modules/\ndist/\ndata/\n.env\n");
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  expect(manifest.name).toBe("my-chat");
  const asked = { ...manifest.dependencies, ...manifest.devDependencies };
  for (const [name, version] of Object.entries(asked)) expect(version).toBe(versions[name]);
});

test("the template names no version, and this package is developed with all that it needs", () => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(new URL("package.json", template), "utf8"),
  );
  const asked = { ...dependencies, ...devDependencies };
  expect(Object.values(asked).filter((version) => version !== "")).toEqual([]);
  expect(Object.keys(asked).filter((name) => own.devDependencies[name] === undefined)).toEqual([]);
});

test("it says what to do next, and that the chat needs a newer Node", () => {
  const { status, out, err } = run([join(parent, "my-chat")]);
  expect([status, err]).toEqual([0, ""]);
  expect(out).toMatch(/^Created my-chat\. Next:\n\n {2}cd .*my-chat\n {2}npm install\n {2}npm run dev\n/);
  expect(out).not.toContain("needs Node");
  expect(run([join(parent, "older")], "20.19.0").out).toMatch(
    /needs Node 22\.18 or newer; this is 20\.19\.0\.\n$/,
  );
  expect(run([join(parent, "old")], "22.17.1").out).toContain("needs Node");
  expect(run([join(parent, "new")], "22.18.0").out).not.toContain("needs Node");
});

test("a folder that is empty but for .git will do", () => {
  mkdirSync(join(parent, ".git"));
  const folder = join(parent, "empty");
  mkdirSync(join(folder, ".git"), { recursive: true });
  expect(run([folder]).status).toBe(0);
});

test.each(["My-Chat", "my chat", ".hidden", "-x-", "node_modules", `${"a".repeat(215)}`])(
  "%j is no name of a chat",
  (name) => {
    const { status, out, err } = run([join(parent, name)]);
    expect([status, out]).toEqual([1, ""]);
    expect(err).toContain(`${JSON.stringify(name)} is no name for a package.`);
    expect(readdirSync(parent)).toEqual([]);
  },
);

test("a folder with something in it, or a file, is left as it is", () => {
  const folder = join(parent, "full");
  mkdirSync(folder);
  writeFileSync(join(folder, "notes.txt"), "mine");
  expect(run([folder])).toEqual({
    status: 1,
    out: "",
    err: `${folder} is not empty: it holds notes.txt. Name another folder.\n`,
  });
  expect(readdirSync(folder)).toEqual(["notes.txt"]);
  expect(run([join(folder, "notes.txt")]).err).toContain("notes.txt is a file.");
});

test("without a folder, or with more than one, it says how it is used", () => {
  for (const args of [[], ["one", "two"], ["--yes"]]) {
    const { status, out, err } = run(args);
    expect([status, out]).toEqual([2, ""]);
    expect(err).toMatch(/^Usage: npm create turnkeep-chat FOLDER\n/);
  }
  expect(run(["--help"])).toMatchObject({ status: 0, err: "" });
});
