import { createChatMemory, isTurnkeepError } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import { convert, modelMessageConversion } from "../src/convert.ts";
import {
  type LangChain4jMessage,
  langchain4jConversion,
  langchain4jFormat,
  messageFromJson,
  messagesFromJson,
  messagesToJson,
  messageToJson,
} from "../src/langchain4j.ts";

/** Each of these was observed from dev.langchain4j:langchain4j-core 1.19.0. */
const user = (content: string) => `{"contents":[${content}],"type":"USER"}`;
const ai = (members: string) => `{${members}"toolExecutionRequests":[],"attributes":{},"type":"AI"}`;
const tool = (isError: string) =>
  `{"contents":[{"text":"x","type":"TEXT"}],${isError}"attributes":{},"type":"TOOL_EXECUTION_RESULT"}`;
const image = (members: string) => user(`{"image":{},${members}"type":"IMAGE"}`);

function problem(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(isTurnkeepError(error, "INVALID_MESSAGE")).toBe(true);
    return String(error);
  }
  throw new Error("It was not refused.");
}

describe("writing", () => {
  it.each([
    [
      { type: "SYSTEM", text: "esc \u001b nul \u0000 del \u007f" },
      '{"text":"esc \\u001B nul \\u0000 del \u007f","type":"SYSTEM"}',
    ],
    [
      { type: "SYSTEM", text: '\b\t\n\f\r"\\/<\u2028' },
      '{"text":"\\b\\t\\n\\f\\r\\"\\\\/<\u2028","type":"SYSTEM"}',
    ],
    [{ type: "SYSTEM", text: "a \ud83d b" }, '{"text":"a \ud83d b","type":"SYSTEM"}'],
    [
      { attributes: {}, name: "Ann", type: "USER", contents: [{ type: "TEXT", text: "Hi" }] },
      '{"name":"Ann","contents":[{"text":"Hi","type":"TEXT"}],"type":"USER"}',
    ],
    [{ type: "USER", name: "", contents: [{ type: "TEXT", text: "" }] }, user('{"text":"","type":"TEXT"}')],
    [{ type: "AI", toolExecutionRequests: [], text: "" }, ai('"text":"",')],
    [{ type: "AI", thinking: "t", text: undefined }, ai('"thinking":"t",')],
    [
      { type: "AI", toolExecutionRequests: [{ arguments: "{}", name: "f", id: "1" }, null] },
      '{"toolExecutionRequests":[{"id":"1","name":"f","arguments":"{}"},null],"attributes":{},"type":"AI"}',
    ],
    [
      {
        type: "TOOL_EXECUTION_RESULT",
        isError: true,
        toolName: "f",
        id: "1",
        contents: [{ type: "TEXT", text: "no" }],
      },
      '{"id":"1","toolName":"f","contents":[{"text":"no","type":"TEXT"}],"isError":true,"attributes":{},"type":"TOOL_EXECUTION_RESULT"}',
    ],
    [
      { type: "CUSTOM", attributes: { b: null, a: [true, {}] } },
      '{"attributes":{"b":null,"a":[true,{}]},"type":"CUSTOM"}',
    ],
    [
      {
        type: "USER",
        contents: [
          { type: "IMAGE", image: { revisedPrompt: "p", mimeType: "m", base64Data: "b", url: "u" } },
        ],
      },
      user(
        '{"image":{"url":"u","base64Data":"b","mimeType":"m","revisedPrompt":"p"},"detailLevel":"LOW","type":"IMAGE"}',
      ),
    ],
    [
      {
        type: "USER",
        contents: [{ type: "AUDIO", audio: { mimeType: "m", binaryData: "AAEC+v8=", url: "u" } }],
      },
      user('{"audio":{"url":"u","binaryData":"AAEC+v8=","mimeType":"m"},"type":"AUDIO"}'),
    ],
    [{ type: "USER", contents: [{ type: "VIDEO" }, null] }, user('{"type":"VIDEO"},null')],
    [
      { type: "USER", contents: [{ type: "PDF", pdfFile: {} }] },
      user('{"pdfFile":{"mimeType":"application/pdf"},"type":"PDF"}'),
    ],
  ] as [LangChain4jMessage, string][])("%j", (message, json) => {
    expect(messageToJson(message)).toBe(json);
  });

  it("writes numbers as Java does", () => {
    const attributes = {
      i: 1,
      l: 5_000_000_000,
      n: -3,
      d: 0.1,
      big: 123456789012345678901234567890n,
      e: 1e21,
      t: 1e-7,
    };
    expect(messageToJson({ type: "CUSTOM", attributes })).toBe(
      '{"attributes":{"i":1,"l":5000000000,"n":-3,"d":0.1,"big":123456789012345678901234567890,"e":1.0E21,"t":1.0E-7},"type":"CUSTOM"}',
    );
    const edges = {
      a: -0,
      b: 0.001,
      c: 0.00099,
      d: 9999999.5,
      e: 12345678.5,
      f: 5e-324,
      g: Number.POSITIVE_INFINITY,
    };
    expect(messageToJson({ type: "CUSTOM", attributes: edges })).toBe(
      '{"attributes":{"a":-0.0,"b":0.001,"c":9.9E-4,"d":9999999.5,"e":1.23456785E7,"f":4.9E-324,"g":"Infinity"},"type":"CUSTOM"}',
    );
  });

  it("writes lists, with null where a message is missing", () => {
    const message: LangChain4jMessage = { type: "SYSTEM", text: "s" };
    expect(messagesToJson([])).toBe("[]");
    expect(messagesToJson([message, null])).toBe('[{"text":"s","type":"SYSTEM"},null]');
    expect(messagesToJson(null)).toBe("null");
    expect(messageToJson(null)).toBe("null");
  });

  it.each([
    [{ type: "SYSTEM", text: "s", vendor: "secret" }, "message.vendor is not a member"],
    [
      { type: "USER", contents: [{ type: "SMELL", of: "secret" }] },
      "message.contents[0].type must be one of",
    ],
    [
      { type: "USER", contents: [{ type: "TEXT", text: "t", x: 1 }] },
      "message.contents[0].x is not a member",
    ],
    [
      { type: "USER", contents: [{ type: "IMAGE", image: { url: "se cret" } }] },
      "message.contents[0].image.url",
    ],
    [
      { type: "USER", contents: [{ type: "IMAGE", image: {}, detailLevel: "HUGE" }] },
      "message.contents[0].detailLevel",
    ],
    [
      { type: "USER", contents: [{ type: "AUDIO", audio: { binaryData: "***" } }] },
      "message.contents[0].audio.binaryData",
    ],
    [
      { type: "AI", toolExecutionRequests: [{ id: "1", nme: "secret" }] },
      "message.toolExecutionRequests[0].nme",
    ],
    [{ type: "AI", attributes: { a: [new Date(0)] } }, "message.attributes.a[0]"],
    [{ type: "SYSTEM", text: " " }, "message.text"],
  ])("refuses %j, which LangChain4j could not read", (message, reason) => {
    const said = problem(() => messageToJson(message as unknown as LangChain4jMessage));
    expect(said).toContain(reason);
    expect(said).not.toContain("secret");
  });

  it("writes back what it reads, however deep", () => {
    const json = `{"attributes":{"x":${"[".repeat(990)}${"]".repeat(990)}},"type":"CUSTOM"}`;
    expect(messageToJson(messageFromJson(json))).toBe(json);
  });

  it("refuses a cycle in attributes", () => {
    const attributes: Record<string, unknown> = {};
    attributes.self = attributes;
    expect(problem(() => messageToJson({ type: "CUSTOM", attributes } as LangChain4jMessage))).toContain(
      "nested deeper",
    );
  });
});

describe("reading", () => {
  it.each([
    ['{"type":"SYSTEM","text":"hello"}', '{"text":"hello","type":"SYSTEM"}'],
    [
      ' \n{ "type" : "USER" , "contents" : [ { "type" : "TEXT" , "text" : "x" } ] }\t',
      user('{"text":"x","type":"TEXT"}'),
    ],
    ['{"type":"AI"}', ai("")],
    ['{"text":null,"thinking":null,"toolExecutionRequests":null,"attributes":null,"type":"AI"}', ai("")],
    ['{"attributes":null,"type":"CUSTOM"}', '{"attributes":{},"type":"CUSTOM"}'],
    [user('null,{"text":"x","type":"TEXT"}'), user('null,{"text":"x","type":"TEXT"}')],
    [
      user('{"pdfFile":{"url":"u"},"type":"PDF"}'),
      user('{"pdfFile":{"url":"u","mimeType":"application/pdf"},"type":"PDF"}'),
    ],
    [user('{"type":"AUDIO"}'), user('{"type":"AUDIO"}')],
    // What older versions wrote.
    ['{"text":"hi","type":"AI"}', ai('"text":"hi",')],
    ['{"text":"x","type":"TOOL_EXECUTION_RESULT"}', tool("")],
    ['{"text":"x","contents":[],"type":"TOOL_EXECUTION_RESULT"}', tool("")],
    // The last of a repeated member counts; what follows the first value is ignored.
    ['{"type":"AI","text":"a","text":"b"}', ai('"text":"b",')],
    ['{"type":"AI","text":"a"}{"type":"AI","text":"b"}', ai('"text":"a",')],
    // Scalars where a text stands, as they are spelled.
    ['{"type":"AI","text":true}', ai('"text":"true",')],
    ['{"type":"AI","text":1.50}', ai('"text":"1.50",')],
    ['{"type":"AI","text":12345678901234567890123}', ai('"text":"12345678901234567890123",')],
    ['{"type":"AI","text":"\\u00e9\\/\\ud800"}', ai('"text":"é/\ud800",')],
    // Flags.
    ...([
      ['"true"', "true"],
      ['"TRUE"', "true"],
      ['" True "', "true"],
      ['"FALSE"', "false"],
      ["1", "true"],
      ["-2", "true"],
      ["0", "false"],
    ].map(([flag, read]) => [
      `{"text":"x","isError":${flag},"type":"TOOL_EXECUTION_RESULT"}`,
      tool(`"isError":${read},`),
    ]) as [string, string][]),
    ['{"text":"x","isError":"  ","type":"TOOL_EXECUTION_RESULT"}', tool("")],
    ['{"text":"x","isError":" null ","type":"TOOL_EXECUTION_RESULT"}', tool("")],
    // Detail levels by name and by number.
    [image('"detailLevel":" LOW ",'), image('"detailLevel":"LOW",')],
    [image('"detailLevel":3,'), image('"detailLevel":"ULTRA_HIGH",')],
    [image('"detailLevel":"4",'), image('"detailLevel":"AUTO",')],
    // URIs and bytes.
    [
      user('{"image":{"url":" https://a.b/c?d=[1]#e "},"detailLevel":"LOW","type":"IMAGE"}'),
      user('{"image":{"url":"https://a.b/c?d=[1]#e"},"detailLevel":"LOW","type":"IMAGE"}'),
    ],
    ...["///p", "//?q", "//#f", "x://#f", "http://u@[::1]:80/a", "urn:a:b", "a/b?c/d#e?f"].map(
      (url): [string, string] => {
        const json = user(`{"video":{"url":"${url}"},"type":"VIDEO"}`);
        return [json, json];
      },
    ),
    [user('{"video":{"url":7},"type":"VIDEO"}'), user('{"video":{"url":"7"},"type":"VIDEO"}')],
    [
      user('{"audio":{"binaryData":" AB== "},"type":"AUDIO"}'),
      user('{"audio":{"binaryData":"AA=="},"type":"AUDIO"}'),
    ],
  ])("%s", (json, again) => {
    expect(messageToJson(messageFromJson(json))).toBe(again);
  });

  it("tells Java's numbers apart where JavaScript does not", () => {
    const json =
      '{"attributes":{"i":1,"d":1.0,"e":1e3,"big":123456789012345678901234567890,"neg":-0,"deep":[{"a/b~":-2.0}]},"type":"CUSTOM"}';
    const message = messageFromJson(json);
    expect(message).toEqual({
      type: "CUSTOM",
      attributes: {
        i: 1,
        d: 1,
        e: 1000,
        big: 123456789012345678901234567890n,
        neg: 0,
        deep: [{ "a/b~": -2 }],
      },
      attributeDoubles: ["/d", "/e", "/deep/0/a~1b~0"],
    });
    expect(messageToJson(message)).toBe(
      '{"attributes":{"i":1,"d":1.0,"e":1000.0,"big":123456789012345678901234567890,"neg":0,"deep":[{"a/b~":-2.0}]},"type":"CUSTOM"}',
    );
  });

  it("keeps __proto__ as data", () => {
    const json = '{"attributes":{"__proto__":{"admin":true}},"type":"CUSTOM"}';
    const message = messageFromJson(json) as LangChain4jMessage & { type: "CUSTOM" };
    expect(Object.keys(message.attributes ?? {})).toEqual(["__proto__"]);
    expect((message.attributes as { admin?: unknown }).admin).toBeUndefined();
    expect(messageToJson(message)).toBe(json);
  });

  it("reads lists; no text and the text null are empty", () => {
    expect(messagesFromJson('[null,{"type":"SYSTEM","text":"a"}] x')).toEqual([
      null,
      { type: "SYSTEM", text: "a" },
    ]);
    expect(messagesFromJson("[]")).toEqual([]);
    expect(messagesFromJson("null")).toEqual([]);
    expect(messagesFromJson(null)).toEqual([]);
    expect(messagesFromJson(undefined)).toEqual([]);
    expect(messageFromJson("null")).toBeNull();
  });

  it.each([
    "",
    "   ",
    '{"type":"AI"',
    '{"type":"AI",}',
    "{'type':'AI'}",
    '/* c */{"type":"AI"}',
    '{"type":"AI","text":01}',
    '{"type":"AI","text":.5}',
    '{"type":"AI","text":"\t"}',
    '{"type":"AI","text":"\\x"}',
    '{"type":"AI","text":"\\u12"}',
    '{"type":"CUSTOM","attributes":{"x":NaN}}',
    "nulll",
    "\ufeff{}",
    '[{"type":"AI"}]',
    '"AI"',
    "{}",
    '{"text":"x"}',
    '{"type":null}',
    '{"type":1}',
    '{"type":"ai"}',
    '{"type":"ROBOT"}',
    '{"type":"AI","type":"AI"}',
    '{"type":"SYSTEM","text":"x","extra":1}',
    '{"type":"AI","toolExecutionRequests":[{"nme":"f"}]}',
    '{"type":"AI","toolExecutionRequests":{}}',
    '{"type":"AI","toolExecutionRequests":""}',
    '{"type":"AI","toolExecutionRequests":[{"arguments":{"a":1}}]}',
    '{"type":"AI","text":{}}',
    '{"type":"AI","attributes":[1]}',
    '{"type":"AI","attributes":""}',
    '{"type":"SYSTEM"}',
    '{"type":"SYSTEM","text":"  "}',
    '{"text":"hi","type":"USER"}',
    '{"type":"USER","contents":[]}',
    '{"type":"USER","contents":"x"}',
    '{"contents":{"text":"x","type":"TEXT"},"type":"USER"}',
    '{"type":"USER","contents":[{"text":"x"}]}',
    '{"type":"USER","contents":[{"type":"SMELL"}]}',
    '{"type":"TOOL_EXECUTION_RESULT","id":"1"}',
    '{"type":"TOOL_EXECUTION_RESULT","text":"a","contents":[{"type":"TEXT","text":"b"}]}',
    ...['"tRue"', '"1"', '"yes"', '"NULL"', "1.5", "1e0", "{}", "[]"].map(
      (flag) => `{"text":"x","isError":${flag},"type":"TOOL_EXECUTION_RESULT"}`,
    ),
    ...['"low"', '""', '"03"', "9", "-1", "1.0", "true", "null"].map((level) =>
      image(`"detailLevel":${level},`),
    ),
    image(""),
    user('{"detailLevel":"LOW","type":"IMAGE"}'),
    ...["a b", "http:", ":x", "//", "x#a#b", "a%zz", "http://x/[1]", "mailto:a\u00a0b", "a%1", "x:#f"].map(
      (url) => user(`{"video":{"url":"${url}"},"type":"VIDEO"}`),
    ),
    ...["a?b|c", "a#b|c", "h~p:x", "http://a|b/c", "http://a/b|c", "mailto:a|b", "x://", "http://[1/c"].map(
      (url) => user(`{"video":{"url":"${url}"},"type":"VIDEO"}`),
    ),
    ...['"***"', '"AA"', '"A A=="', "5"].map((data) =>
      user(`{"audio":{"binaryData":${data}},"type":"AUDIO"}`),
    ),
    `{"type":"CUSTOM","attributes":{"x":${"[".repeat(1_001)}${"]".repeat(1_001)}}}`,
    `{"type":"CUSTOM","attributes":{"x":${"1".repeat(1_001)}}}`,
  ])("refuses %s, as LangChain4j does", (json) => {
    problem(() => messageFromJson(json));
  });

  it.each(["", '{"type":"AI"}', '[[{"type":"AI"}]]', '[{"type":"AI"},{"type":"ROBOT"}]'])(
    "refuses the list %s",
    (json) => {
      problem(() => messagesFromJson(json));
    },
  );

  it("says where it is wrong, without the content", () => {
    const said = problem(() => messagesFromJson('[{"type":"AI"},{"type":"SYSTEM","text":{"secret":1}}]'));
    expect(said).toContain("messages[1].text must be a text");
    expect(problem(() => messageFromJson('{"type":"AI","text":"secret'))).toMatch(/at character \d+/);
    expect(said + problem(() => messageFromJson('{"type":"AI","very secret":1}'))).not.toContain("secret");
  });
});

/** Each of these was observed from dev.langchain4j:langchain4j-core 1.23.0; 1.19 refuses them. */
describe("attributes of a system message", () => {
  it.each([
    ['{"text":"S","attributes":{"a":null,"b":1.0,"c":[{}]},"type":"SYSTEM"}', undefined],
    [
      '{"attributes":{"y":{"z":1,"b":2}},"text":"S","type":"SYSTEM"}',
      '{"text":"S","attributes":{"y":{"z":1,"b":2}},"type":"SYSTEM"}',
    ],
    ['{"text":"S","attributes":{},"type":"SYSTEM"}', '{"text":"S","type":"SYSTEM"}'],
    ['{"text":"S","attributes":null,"type":"SYSTEM"}', '{"text":"S","type":"SYSTEM"}'],
    ['{"text":"S","attributes":{"a":1},"attributes":{},"type":"SYSTEM"}', '{"text":"S","type":"SYSTEM"}'],
  ])("reads %s", async (json, written = json) => {
    const message = messageFromJson(json) as LangChain4jMessage;
    expect(messageToJson(message)).toBe(written);
    const memory = createChatMemory({ format: langchain4jFormat });
    await memory.add(message);
    expect(messagesToJson(await memory.messages())).toBe(`[${written}]`);
  });

  it.each([
    '{"text":"S","attributes":[],"type":"SYSTEM"}',
    '{"text":"S","attributes":"x","type":"SYSTEM"}',
    '{"attributes":{"a":1},"type":"SYSTEM"}',
    '{"text":" ","attributes":{"a":1},"type":"SYSTEM"}',
  ])("refuses %s", (json) => {
    problem(() => messageFromJson(json));
  });

  it("are reported where a format has no place for them", () => {
    const [message] = messagesFromJson('[{"text":"S","attributes":{"tag":1},"type":"SYSTEM"}]');
    const { messages, lost } = convert([message as LangChain4jMessage], {
      from: langchain4jConversion,
      to: modelMessageConversion,
    });
    expect(messages).toEqual([{ role: "system", content: "S" }]);
    expect(lost).toEqual([{ index: 0, kind: "message.attributes.tag" }]);
  });
});
