import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { bundled } from "@turnkeep/store-tests/processes";
import { expect, test } from "vitest";
import { newDatabase } from "./server.ts";

test.each(["pool", "client"])(
  "a %s that was given without a listener survives a server that ends its idle connection",
  async (kind) => {
    const program = await bundled(new URL("./idle.ts", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [program, await newDatabase(), kind]);
    expect(stdout).toBe("alive\n");
  },
);
