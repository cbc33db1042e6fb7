import { expect, test } from "vitest";
import { type Refusals, refusalOf } from "../src/store-kit.ts";

const refusals: Refusals = {
  missing: [[/^NO_TABLE$/, "the table memories"]],
  unfit: [[/^OLD/, "the server is too old: upgrade it"]],
  passing: /^BUSY$/,
  refused: [
    [/^DENIED_ROW/, "a policy forbids the row: mend it"],
    [/^(?:DENIED|OLD)/, "a right is missing: grant it"],
  ],
};

function refusal(code: string, fault?: string): { code?: string; message?: string; cause?: unknown } {
  const cause = Object.assign(new Error("with content"), { code });
  const error = refusalOf("myStore", refusals, cause, fault);
  expect(error?.cause).toBe(error && cause);
  return error ?? {};
}

test("each list has its code and its words, and the error names the fault", () => {
  expect(refusal("NO_TABLE")).toMatchObject({
    code: "STORE_NOT_READY",
    message:
      "myStore: the table memories is missing or out of date: call migrate() once, before the store is used",
  });
  expect(refusal("OLD_13")).toMatchObject({
    code: "STORE_NOT_READY",
    message: "myStore: the server is too old: upgrade it",
  });
  expect(refusal("BUSY")).toMatchObject({
    code: "STORE_UNAVAILABLE",
    message:
      "myStore: the database cannot serve the call now (BUSY); see the cause. Nothing was written: it may be repeated",
  });
  expect(refusal("DENIED")).toMatchObject({
    code: "STORE_REFUSED",
    message: "myStore: a right is missing: grant it (DENIED). Nothing was written",
  });
});

test("the first row that matches counts, and what is in no list is open", () => {
  expect(refusal("DENIED_ROW").message).toContain("a policy forbids");
  expect(refusal("BUSY_SOON")).toEqual({});
  expect(refusalOf("myStore", refusals, new Error("DENIED"))).toBeUndefined();
  expect(refusalOf("myStore", {}, Object.assign(new Error(), { code: "DENIED" }))).toBeUndefined();
});

test("a store may search for more than the driver's code", () => {
  expect(refusal("8000", "DENIED: table x").message).toContain("grant it (DENIED: table x)");
});
