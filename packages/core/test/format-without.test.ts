import { describe, expect, test } from "vitest";
import { modelMessageFormat as format, type ModelMessageLike } from "../src/index.ts";
import {
  assistant,
  blank,
  call,
  file,
  image,
  request,
  result,
  text,
  thought,
  thoughtFile,
  tool,
  userParts,
} from "./format-parts.ts";
import { described } from "./format-support.ts";

describe("without", () => {
  const full = assistant(thought, text, call("1"), request("1"), call("2"), request("2"), result("2"), file);

  test.each<[string, Parameters<typeof format.without>[1], unknown[]]>([
    [
      "one call and its request",
      { toolCalls: (id) => id === "1" },
      [thought, text, call("2"), request("2"), result("2"), file],
    ],
    [
      "one result",
      { toolResults: (id) => id === "2" },
      [thought, text, call("1"), request("1"), call("2"), request("2"), file],
    ],
    [
      "reasoning",
      { reasoning: true },
      [text, call("1"), request("1"), call("2"), request("2"), result("2"), file],
    ],
    [
      "media",
      { media: true },
      [thought, text, call("1"), request("1"), call("2"), request("2"), result("2")],
    ],
    ["all of it", { toolCalls: () => true, toolResults: () => true, reasoning: true, media: true }, [text]],
  ])("%s", (_name, omission, content) => {
    const before = described(full);
    expect(format.without(full, omission)).toEqual({ role: "assistant", content });
    expect(described(full)).toEqual(before);
  });

  test("answers the same object when nothing changes", () => {
    const omissions = [
      {},
      { toolCalls: () => false, toolResults: () => false, reasoning: false, media: false },
    ];
    for (const omission of omissions) expect(format.without(full, omission)).toBe(full);
    const plain: ModelMessageLike = { role: "user", content: "a" };
    const all = { toolCalls: () => true, toolResults: () => true, reasoning: true, media: true };
    expect(format.without(plain, all)).toBe(plain);
    const nothing: ModelMessageLike = { role: "user", content: [] };
    expect(format.without(nothing, all)).toBe(nothing);
    const media = tool(result("1", { type: "content", value: [text] }));
    expect(format.without(media, { media: true })).toBe(media);
    expect(format.without(tool(result("1", { type: "json", value: [image] })), { media: true })).toEqual(
      tool(result("1", { type: "json", value: [image] })),
    );
  });

  test("answers undefined when nothing that a provider would see is left", () => {
    expect(format.without(assistant(call("1"), request("1")), { toolCalls: () => true })).toBeUndefined();
    expect(format.without(assistant(blank, call("1")), { toolCalls: () => true })).toBeUndefined();
    expect(format.without(tool(result("1")), { toolResults: () => true })).toBeUndefined();
    expect(format.without(assistant(thought, thoughtFile), { reasoning: true })).toBeUndefined();
    expect(format.without(userParts(image, file), { media: true })).toBeUndefined();
    expect(format.without(assistant(thoughtFile), { media: true })).toBeUndefined();
  });

  test("media leave a tool's output, the rest of it stays", () => {
    const message = tool(
      {
        ...result("1"),
        output: { type: "content", value: [text, { type: "file-data", data: "AA==", mediaType: "a/b" }] },
      },
      result("2"),
    );
    const before = described(message);
    expect(format.without(message, { media: true })).toEqual(
      tool({ ...result("1"), output: { type: "content", value: [text] } }, result("2")),
    );
    expect(described(message)).toEqual(before);
  });

  test("keeps the members beside the content", () => {
    const message = {
      ...assistant(text, thought),
      providerOptions: { a: { b: 1 } },
    } as unknown as ModelMessageLike;
    expect(format.without(message, { reasoning: true })).toEqual({
      role: "assistant",
      content: [text],
      providerOptions: { a: { b: 1 } },
    });
  });
});
