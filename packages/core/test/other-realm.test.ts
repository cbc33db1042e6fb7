import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { createChatMemory, type ModelMessage } from "../src/index.ts";

// As `structuredClone` answers under Jest, and under vitest's pool `vmThreads`.
it.each([
  ["new Date(5)", new Date(5)],
  ["new Uint8Array([1, 2]).buffer", new Uint8Array([1, 2]).buffer],
  ["new Uint8Array([1, 2])", new Uint8Array([1, 2])],
  ["({ a: [1] })", { a: [1] }],
])("%s of another realm survives", async (code, own) => {
  const memory = createChatMemory();
  const message = (value: unknown) =>
    ({ role: "user", content: "x", providerOptions: { a: { value } } }) as ModelMessage;
  await memory.add(message(runInNewContext(code)));
  expect(await memory.messages()).toEqual([message(own)]);
});

it.each(["Object.create(Date.prototype)", "new SharedArrayBuffer(2)", "new Date(NaN)"])(
  "%s is refused still",
  async (code) => {
    const added = createChatMemory().add({ role: "user", content: "x", at: runInNewContext(code) } as never);
    await expect(added).rejects.toMatchObject({ code: "INVALID_MESSAGE" });
  },
);
