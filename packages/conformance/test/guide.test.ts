import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { conformanceGroups } from "../src/index.ts";

const top = new URL("../../../", import.meta.url);
const guide = readFileSync(new URL("docs/write-a-store.md", top), "utf8");
const contract = readFileSync(new URL("packages/core/src/store-contract.ts", top), "utf8");

test("the guide leads through every group of the kit, in the kit's order", () => {
  const section = guide.slice(guide.indexOf("| groups |"), guide.indexOf("## The contract"));
  const named = section
    .split("\n")
    .flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, group]) => group));
  expect(named).toEqual(conformanceGroups);
});

test("the guide's table names every capability as declared", () => {
  const declared = /interface StoreCapabilities \{([\s\S]*?)\n\}/.exec(contract)?.[1] ?? "";
  const names = [...declared.matchAll(/readonly (\w+)\??:/g)].map(([, name]) => name);
  const rows = guide.split("\n").filter((line) => line.includes("declared: "));
  expect(names).toHaveLength(10);
  expect(names.filter((name) => !rows.some((row) => row.includes(`\`${name}\``)))).toEqual([]);
});

test("the guide shows every hook and option of keyValueStore", () => {
  const text = readFileSync(new URL("packages/core/src/stores/key-value-options.ts", top), "utf8");
  const [, members = ""] = /interface KeyValueStoreOptions<R extends \{\}> \{([\s\S]*?)\n\}/.exec(text) ?? [];
  const names = [...members.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, name]) => name);
  const table = guide.slice(guide.indexOf("## The smallest store"), guide.indexOf("## A store of your own"));
  expect(names).toHaveLength(12);
  expect(names.filter((name) => !new RegExp(`^\\| \`${name}[\`?(]`, "m").test(table))).toEqual([]);
});

test("the page of the store kit names everything that it exports, and nothing else", () => {
  const source = readFileSync(new URL("packages/core/src/store-kit.ts", top), "utf8");
  const lists = [...source.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, names = ""]) =>
    names.split(","),
  );
  const exported = lists.map((name) => name.replace("type ", "").trim()).filter((name) => name !== "");
  const page = readFileSync(new URL("docs/store-kit.md", top), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(exported.length).toBeGreaterThan(45);
  expect(named.sort()).toEqual([...exported].sort());
});

test("the links of the guide lead somewhere", () => {
  const links = [...guide.matchAll(/\]\((?!#)([^)#]+)/g)].map(([, link]) => link as string);
  expect(links.length).toBeGreaterThan(4);
  expect(links.filter((link) => !existsSync(new URL(link, new URL("docs/", top))))).toEqual([]);
});

test("the list of stores names packages and exports that exist", () => {
  const { ours } = JSON.parse(readFileSync(new URL("docs/stores.json", top), "utf8")) as {
    ours: { package: string; store: string; folder: string }[];
  };
  for (const { package: name, store, folder } of ours) {
    const manifest = JSON.parse(readFileSync(new URL(`${folder}/package.json`, top), "utf8"));
    expect(manifest.name).toBe(name);
    expect(readFileSync(new URL(`${folder}/src/index.ts`, top), "utf8")).toContain(store);
  }
});
