import { expect, it, vi } from "vitest";
import * as core from "../src/index.ts";

// As a bundler makes one for each route, while the memories stay on `globalThis`.
it("an entry that another copy of this package made is one", async () => {
  vi.resetModules();
  const other: typeof core = await import("../src/index.ts");
  expect(other.entry).not.toBe(core.entry);
  const memory = core.createChatMemory();
  const given = other.entry(other.user("Hello"), { id: "request-17" });
  expect(await memory.add(given, given)).toEqual(["request-17", "request-17"]);
  expect(await memory.messages()).toEqual([core.user("Hello")]);
});
