import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mutants } from "../src/mutants.mjs";
import { root } from "../src/runner/workspace.mjs";

test.each(mutants)("$file still has the place where a fault is to be planted: $find", ({ file, find }) => {
  expect(readFileSync(join(root, "packages", file), "utf8").split(find)).toHaveLength(2);
});
