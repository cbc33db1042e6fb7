import { describe, expect, test } from "vitest";
import {
  type ModelMessage,
  type ModelMessageLike,
  modelMessageFormat,
  system,
  toolCall,
  toolResult,
  user,
} from "../src/index.ts";
import { applyProcessors, redact } from "../src/processors.ts";
import { call, image, assistant as parts, result, text, tool, userParts } from "./format-parts.ts";

async function redacted<M extends ModelMessageLike>(
  messages: readonly M[],
  options: Parameters<typeof redact>[0],
): Promise<M[]> {
  return applyProcessors(messages, [redact(options)]);
}

const keys = { patterns: [/\bsk-[a-z0-9]{4,}/] };

describe("redact", () => {
  test("replaces every match in every text, and nothing else", async () => {
    const messages = [
      system("Never show sk-abcd."),
      userParts({ type: "text", text: "sk-abcd, sk-efgh" }, image),
      parts({ type: "text", text: "sk-abcd?" }, call("1")),
      tool(result("1", { type: "text", value: "key: sk-abcd" })),
      parts({ ...text, text: "fine" }),
    ];
    const shown = await redacted(messages, keys);
    expect(shown).toEqual([
      system("Never show [redacted]."),
      userParts({ type: "text", text: "[redacted], [redacted]" }, image),
      parts({ type: "text", text: "[redacted]?" }, call("1")),
      tool(result("1", { type: "text", value: "key: [redacted]" })),
      parts({ ...text, text: "fine" }),
    ]);
    expect(shown[4]).toBe(messages[4]);
  });

  test("takes texts literally, keeps no place between matches, and writes its replacement as it is", async () => {
    const [literal] = await redacted([user("a.b axb (a.b)")], { patterns: ["a.b"], replacement: "$&$1" });
    expect(literal).toEqual(user("$&$1 axb ($&$1)"));
    const sticky = /sk-[a-z]+/y;
    const shown = await redacted([user("x sk-a sk-b"), user("sk-c")], { patterns: [sticky, /X/gi] });
    expect(shown).toEqual([user("[redacted] [redacted] [redacted]"), user("[redacted]")]);
    expect(sticky.lastIndex).toBe(0);
  });

  test("reads JSON as it is meant: escapes, keys, numbers; and leaves it JSON", async () => {
    const input = {
      note: 'a "quoted" pass\nword',
      "ann@example.com": [4111111111111111, 12],
      deep: { mail: "ann@example.com", big: 1e21 },
    };
    const patterns = ['"quoted" pass\nword', /[\w.]+@[\w.]+/, /\b\d{16}\b/];
    const clean = {
      note: "a [redacted]",
      "[redacted]": ["[redacted]", 12],
      deep: { mail: "[redacted]", big: 1e21 },
    };
    const messages = [toolCall("1", "save", input), toolResult("1", "save", input)];
    const shown = await redacted<ModelMessage>(messages, { patterns });
    expect(shown).toEqual([toolCall("1", "save", clean), toolResult("1", "save", clean)]);
    const quoting = { patterns: ["pass"], replacement: '"…\\' };
    const [result] = await redacted([toolResult("1", "save", { note: "a pass" })], quoting);
    expect(result).toEqual(toolResult("1", "save", { note: 'a "…\\' }));
  });

  test("finds what spans members of JSON, and nothing of it is left", async () => {
    const patterns = [/"password":"[^"]*"/];
    const replacement = '"password":"…"';
    const [shown] = await redacted([toolResult("1", "t", { user: "ann", password: "hunter2" })], {
      patterns,
      replacement,
    });
    expect(shown).toEqual(toolResult("1", "t", { user: "ann", password: "…" }));
  });

  test("covers the keys and values that a match touches where the text would be no JSON", async () => {
    const input = {
      user: "ann",
      password: 'hun"ter2',
      logins: [{ password: "b" }, { admin: true, "ann@x.org": 1 }],
    };
    const clean = {
      user: "ann",
      "[redacted]": "[redacted]",
      logins: [{ "[redacted]": "[redacted]" }, { "[redacted]": "[redacted]", "[redacted] (2)": 1 }],
    };
    const patterns = [/"password":"(?:[^"\\]|\\.)*"/, /"admin":true/, /\w+@[\w.]+/];
    const text = JSON.stringify(input);
    expect(
      await redacted<ModelMessage>(
        [toolCall("1", "login", input), toolResult("1", "login", input), toolResult("2", "login", text)],
        { patterns },
      ),
    ).toEqual([
      toolCall("1", "login", clean),
      toolResult("1", "login", clean),
      toolResult("2", "login", JSON.stringify(clean)),
    ]);
    const [list] = await redacted([toolResult("1", "t", [1, "a", "b", 2])], { patterns: [/"a","/] });
    expect(list).toEqual(toolResult("1", "t", [1, "[redacted]", "[redacted]", 2]));
  });

  test("keeps each member where keys become the same", async () => {
    const votes = { "a@x.org": 3, "[redacted]": 4, "[redacted] (2)": 6, "b@y.org": 5 };
    const clean = { "[redacted]": 3, "[redacted] (2)": 4, "[redacted] (2) (2)": 6, "[redacted] (3)": 5 };
    const given = toolResult("1", "votes", [votes, votes]);
    const shown = toolResult("1", "votes", [clean, clean]);
    expect(await redacted([given], { patterns: [/\w@[\w.]+/] })).toEqual([shown]);
    const change = (text: string): string => text.replace(/\w@[\w.]+/, "[redacted]");
    expect(await redacted([given], { change })).toEqual([shown]);
  });

  test("leaves a message's reasoning out where something changes before it", async () => {
    const hm = { type: "reasoning", text: "hm" };
    const said = (given: string) => ({ type: "text", text: given });
    const messages = [parts(hm, said("secret")), parts(said("secret"), hm, said("a"))];
    expect(await redacted(messages, { patterns: ["secret"], replacement: "…" })).toEqual([
      parts(hm, said("…")),
      parts(said("…"), said("a")),
    ]);
  });

  test("keeps a message's reasoning where something changes behind it, or stands before it as it was", async () => {
    const hm = { type: "reasoning", text: "hm" };
    const secret = { type: "text", text: "sk-abcd" };
    const [shown] = await redacted([parts(image, text, hm, text, secret, text)], keys);
    expect(shown).toEqual(parts(image, text, hm, text, { ...secret, text: "[redacted]" }, text));
  });

  test("reads no JSON in what is only a text", async () => {
    const written = user('{ "key": "sk\\u002dabcd" }');
    expect(await redacted([written, toolCall("1", "read", { key: "sk-abcd" })], keys)).toEqual([
      written,
      toolCall("1", "read", { key: "[redacted]" }),
    ]);
  });

  test("leaves a message's reasoning out where it would have to change", async () => {
    const signed = {
      type: "reasoning",
      text: "sk-abcd it is",
      providerOptions: { anthropic: { signature: "x" } },
    };
    const other = { type: "reasoning", text: "hm" };
    const messages = [parts(signed, text), parts(other, text), parts(signed)];
    expect(await redacted(messages, keys)).toEqual([parts(text), parts(other, text)]);
  });

  test("asks a function for each text, with the place where it stands", async () => {
    const asked: string[] = [];
    const change = (given: string, of: string): string => {
      asked.push(`${of}: ${given}`);
      return given.toUpperCase();
    };
    const messages = [user("hello"), toolCall("1", "t", { key: ["in", 1] }), toolResult("1", "t", "out")];
    expect(await redacted<ModelMessage>(messages, { change })).toEqual([
      user("HELLO"),
      toolCall("1", "t", { KEY: ["IN", 1] }),
      toolResult("1", "t", "OUT"),
    ]);
    expect(asked).toEqual([
      "content: hello",
      "tool-call: key",
      "tool-call: in",
      "tool-call: 1",
      "tool-result: out",
    ]);
    const wrong = redact({ change: () => undefined as never });
    await expect(applyProcessors([user("a")], [wrong])).rejects.toMatchObject({ code: "INVALID_OPTION" });
  });

  test("reads long texts and long JSON", async () => {
    const secret = `${"x".repeat(3_000_000)} sk-abcd`;
    const [shown] = await redacted(
      [toolResult("1", "t", { secret, list: Array(1000).fill("sk-abcd") })],
      keys,
    );
    const written = JSON.stringify(shown);
    expect(written).not.toContain("sk-abcd");
    expect(written.match(/\[redacted\]/g)).toHaveLength(1001);
  });

  test("reads JSON with millions of escapes", async () => {
    const given = JSON.stringify({ text: `${"\n".repeat(5_000_000)}sk-abcd`, other: '\\"' });
    const [shown] = await redacted([toolResult("1", "t", given)], keys);
    expect(shown).toEqual(toolResult("1", "t", given.replace("sk-abcd", "[redacted]")));
  });

  test("asks for a format that can change texts", async () => {
    const { mapText: _, ...bare } = modelMessageFormat;
    await expect(applyProcessors([user("a")], [redact(keys)], { format: bare })).rejects.toMatchObject({
      code: "UNSUPPORTED",
    });
  });

  test.each<[string, unknown]>([
    ["no options", undefined],
    ["neither patterns nor a function", {}],
    ["both", { ...keys, change: String }],
    ["something that is no list", { patterns: /a/ }],
    ["something that is no pattern", { patterns: [1] }],
    ["an empty text", { patterns: [""] }],
    ["an expression that matches nothing at all", { patterns: [/a*/] }],
    ["a replacement that is no text", { ...keys, replacement: 1 }],
    ["a function that is none", { change: "a" }],
  ])("refuses %s", (_, options) => {
    expect(() => redact(options as never)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });
});
