import { expect, it, vi } from "vitest";
import { conflictError, despiteConflicts, invalidOption } from "../src/store-kit.ts";

const conflict = conflictError("chat-1", null);

it("makes a change again while others write first, and answers what it answers", async () => {
  const change = vi.fn(async () => "done");
  change.mockRejectedValueOnce(conflict).mockRejectedValueOnce(conflict);
  expect(await despiteConflicts(change)).toBe("done");
  expect(change).toHaveBeenCalledTimes(3);
});

it.each([
  [undefined, 8],
  [2, 2],
])("gives up after as many attempts: %s", async (mostAttempts, attempts) => {
  const change = vi.fn(() => Promise.reject(conflict));
  await expect(despiteConflicts(change, mostAttempts)).rejects.toBe(conflict);
  expect(change).toHaveBeenCalledTimes(attempts);
});

it("makes a change once that fails otherwise", async () => {
  const error = invalidOption("No.");
  const change = vi.fn(() => Promise.reject(error));
  await expect(despiteConflicts(change)).rejects.toBe(error);
  expect(change).toHaveBeenCalledTimes(1);
});
