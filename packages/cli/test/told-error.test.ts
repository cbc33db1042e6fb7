import { TurnkeepError } from "@turnkeep/core";
import { invalidOption, refusedError, storeError } from "@turnkeep/core/store-kit";
import { describe, expect, it } from "vitest";
import { toldError } from "../src/told-error.ts";

const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code });

describe("an error that is told", () => {
  it("begins with its code, unless the command line is wrong", () => {
    const wrong = coded("28P01", 'password authentication failed for user "app"');
    expect(toldError(refusedError("postgresStore", "the password is wrong", wrong), [])).toBe(
      "turnkeep: STORE_REFUSED: postgresStore: the password is wrong. Nothing was written\n" +
        '  cause: 28P01: password authentication failed for user "app"\n',
    );
    expect(toldError(storeError("postgresStore", coded("ECONNRESET", "read ECONNRESET")), [])).toMatch(
      /^turnkeep: STORE_UNAVAILABLE: .*\n {2}cause: read ECONNRESET\n$/,
    );
    expect(toldError(invalidOption("limit must be more."), [])).toBe("turnkeep: limit must be more.\n");
  });

  it("tells each cause once, also of those that were tried side by side", () => {
    const system = coded("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:1");
    const both = new AggregateError([coded("ECONNREFUSED", "connect ECONNREFUSED ::1:1"), system]);
    const driver = new Error("no server", { cause: both });
    Object.assign(system, { cause: driver });
    expect(toldError(new TurnkeepError("STORE_UNAVAILABLE", "no answer", { cause: driver }), [])).toBe(
      "turnkeep: STORE_UNAVAILABLE: no answer\n" +
        "  cause: no server\n" +
        "  cause: connect ECONNREFUSED ::1:1\n" +
        "  cause: connect ECONNREFUSED 127.0.0.1:1\n",
    );
  });

  it("tells where one was thrown that nobody foresaw, but takes nothing of its message for that", () => {
    const told = toldError(new RangeError("out\n    at reach"), []);
    const [first, ...frames] = told.trimEnd().split("\n");
    expect(first).toBe("turnkeep: RangeError: out at reach");
    expect(frames.length).toBeGreaterThan(0);
    for (const frame of frames) expect(frame).toMatch(/^ {4}at .*\d$|^ {4}at .*\)$/);
    expect(toldError("a text", [])).toBe("turnkeep: a text\n");
    expect(toldError(undefined, [])).toBe("turnkeep: undefined\n");
    expect(toldError(Object.assign(new Error("bare"), { stack: undefined }), [])).toBe(
      "turnkeep: Error: bare\n",
    );
  });

  it.each([
    ["redis://app:s3%2Fcret@host:6379/0", "ERR unknown command 'AUTH', with args beginning with: 's3/cret'"],
    ["--store=redis://:s3cr@t@host", "s3cr@t is no password, nor s3cr@t"],
    ["postgres://app:s3cret@host/db", "cannot read postgres://app:s3cret@host/db"],
    ["./folder", "cannot read mongodb://app:s3cret@one,two/db?authSource=a"],
    ["./folder", "no pg_hba.conf entry for postgres://host/db?sslpassword=s3cret"],
  ])("shows no password of %s", (address, message) => {
    const told = toldError(new TurnkeepError("STORE_REFUSED", message, { cause: new Error(message) }), [
      address,
    ]);
    expect(told).not.toMatch(/s3/);
    expect(told).toContain("***");
  });

  it("shows the name of a user or a database that is its password too", () => {
    const address = "postgres://postgres:postgres@host/chat";
    const error = refusedError("postgresStore", "no database", new Error('user "postgres", database "chat"'));
    expect(toldError(error, [address, "mongodb://app:chat@host/chat?ssl=1"])).toContain(
      'user "postgres", database "chat"',
    );
  });
});
