import { expect, test } from "vitest";
import { uuidv7 } from "../src/message-id.ts";

/** RFC 9562, section 5.7: 48 bits of time, version 7, variant 10, the rest random. */
const form = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test.each([0, 1, 1_645_557_742_000, 2 ** 48 - 1])("an id begins with the time %i", (now) => {
  const [, high = "", low = ""] = form.exec(uuidv7(now)) ?? [];
  expect(Number.parseInt(high + low, 16)).toBe(now);
});

test("no two ids are the same, and all of their random digits vary", () => {
  // More than are made from one draw of random bytes.
  const ids = Array.from({ length: 3_000 }, () => uuidv7(0));
  expect(new Set(ids).size).toBe(ids.length);
  const random = [15, 16, 17, 20, 21, 22, ...Array.from({ length: 12 }, (_, index) => 24 + index)];
  for (const place of random) expect(new Set(ids.map((id) => id[place])).size).toBe(16);
  expect(new Set(ids.map((id) => id[19]))).toEqual(new Set("89ab"));
  expect(ids.every((id) => form.test(id))).toBe(true);
});
