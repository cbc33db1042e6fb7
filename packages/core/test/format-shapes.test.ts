import { describe, expect, test } from "vitest";
import { modelMessageFormat as format } from "../src/index.ts";
import { assistant, response, result, text, thrown, tool } from "./format-parts.ts";

describe("shapes that are refused, by the place and not the content", () => {
  const parts = (part: unknown): unknown => ({ role: "assistant", content: [text, part] });
  const output = (of: unknown): unknown => tool({ ...result("1"), output: of });
  const hint = (format: string, entry: string): string =>
    `{ format: ${format} } of @turnkeep/formats/${entry}.`;

  test.each<[string, unknown, string]>([
    ["nothing", null, "message must be an object"],
    ["text", "secret", "message must be an object"],
    ["an array", ["secret"], "message must be one message"],
    ["no role", { content: "secret" }, "message.role"],
    ["a UI message", { role: "user", parts: [text] }, hint("uiMessageFormat()", "ai-sdk")],
    ["Gemini's answer", { role: "model" }, hint("geminiFormat", "gemini")],
    ["Gemini's content", { role: "user", parts: [{ text: "secret" }] }, hint("geminiFormat", "gemini")],
    ["Bedrock's text", { role: "user", content: [{ text: "secret" }] }, hint("bedrockFormat", "bedrock")],
    ["Bedrock's call", { role: "assistant", content: [{ toolUse: {} }] }, hint("bedrockFormat", "bedrock")],
    [
      "Ollama's calls",
      { role: "assistant", content: "", tool_calls: [{ function: { name: "secret" } }] },
      hint("ollamaFormat", "ollama"),
    ],
    ["Ollama's result", { role: "tool", tool_name: "secret", content: "" }, hint("ollamaFormat", "ollama")],
    [
      "OpenAI's calls",
      { role: "assistant", content: "secret", tool_calls: [{ id: "1" }] },
      hint("openaiFormat", "openai"),
    ],
    [
      "OpenAI's result",
      { role: "tool", tool_call_id: "1", content: "secret" },
      hint("openaiFormat", "openai"),
    ],
    ["OpenAI's calls alone", { role: "assistant", content: null }, hint("openaiFormat", "openai")],
    ["OpenAI's instructions", { role: "developer", content: "secret" }, hint("openaiFormat", "openai")],
    [
      "OpenAI's image",
      { role: "user", content: [text, { type: "image_url" }] },
      hint("openaiFormat", "openai"),
    ],
    ["Anthropic's call", parts({ type: "tool_use", id: "1" }), hint("anthropicFormat", "anthropic")],
    [
      "an item of OpenAI's Responses API",
      { type: "function_call", call_id: "1" },
      hint("openaiResponsesFormat", "openai-responses"),
    ],
    [
      "a message of the Responses API without its type",
      { role: "user", content: [{ type: "input_text", text: "secret" }] },
      hint("openaiResponsesFormat", "openai-responses"),
    ],
    ["LangChain4j's message", { type: "USER", contents: [] }, hint("langchain4jFormat", "langchain4j")],
    ["another role", { role: "secret", content: "secret" }, "message.role"],
    ["an inherited role", { role: "toString", content: "" }, "message.role"],
    ["no content", { role: "user" }, "message.content must be a text or an array of parts"],
    ["content null", { role: "user", content: null }, "message.content must be a text"],
    ["one part alone", { role: "user", content: text }, "message.content"],
    [
      "a system message of parts",
      { role: "system", content: [text] },
      "message.content must be a text, in a system",
    ],
    [
      "a tool message of text",
      { role: "tool", content: "secret" },
      "message.content must be an array of parts, in",
    ],
    ["a part of text", parts("secret"), "message.content[1] must be an object with a type"],
    ["a part null", parts(null), "message.content[1] must be an object with a type"],
    ["a part without a type", parts({ text: "secret" }), "message.content[1] must be an object with a type"],
    ["a type that is no text", parts({ type: 7 }), "message.content[1] must be"],
    ["text without text", parts({ type: "text" }), "message.content[1].text must be a text"],
    ["text of a number", parts({ type: "text", text: 7 }), "message.content[1].text must be a text"],
    ["reasoning without text", parts({ type: "reasoning" }), "message.content[1].text"],
    ["an image without data", parts({ type: "image" }), "message.content[1].image must be base64"],
    ["an image of a number", parts({ type: "image", image: 7 }), "message.content[1].image"],
    ["a file without data", parts({ type: "file", mediaType: "a/b" }), "message.content[1].data"],
    ["a file of null", parts({ type: "file", mediaType: "a/b", data: null }), "message.content[1].data"],
    ["a file without a media type", parts({ type: "file", data: "" }), "message.content[1].mediaType"],
    [
      "a reasoning file without data",
      parts({ type: "reasoning-file", mediaType: "a/b" }),
      "message.content[1].data",
    ],
    [
      "a reasoning file without a type",
      parts({ type: "reasoning-file", data: "" }),
      "message.content[1].mediaType",
    ],
    ["a custom part without a kind", parts({ type: "custom" }), "message.content[1].kind"],
    ["a call without an id", parts({ type: "tool-call", toolName: "t" }), "message.content[1].toolCallId"],
    ["a call without a name", parts({ type: "tool-call", toolCallId: "1" }), "message.content[1].toolName"],
    ["a result without an id", tool({ ...result("1"), toolCallId: 7 }), "message.content[0].toolCallId"],
    ["a result without a name", tool({ ...result("1"), toolName: undefined }), "message.content[0].toolName"],
    ["a result without an output", output(undefined), "message.content[0].output must be an object such as"],
    ["an output of text", output("secret"), "message.content[0].output"],
    ["an output without a type", output({ value: "secret" }), "message.content[0].output"],
    [
      "a text output of a number",
      output({ type: "text", value: 7 }),
      "message.content[0].output.value must be a text",
    ],
    ["an error output of nothing", output({ type: "error-text" }), "message.content[0].output.value"],
    [
      "a content output of text",
      output({ type: "content", value: "secret" }),
      "output.value must be an array",
    ],
    [
      "a content output of null",
      output({ type: "content", value: [null] }),
      "output.value[0] must be an object",
    ],
    [
      "an output text of null",
      output({ type: "content", value: [{ type: "text" }] }),
      "output.value[0].text",
    ],
    [
      "a request without an id",
      parts({ type: "tool-approval-request", toolCallId: "1" }),
      "content[1].approvalId",
    ],
    [
      "a request without a call",
      parts({ type: "tool-approval-request", approvalId: "1" }),
      "content[1].toolCallId",
    ],
    [
      "a response without an id",
      tool({ type: "tool-approval-response", approved: true }),
      "content[0].approvalId",
    ],
    [
      "a response of text",
      tool({ ...response("1"), approved: "yes" }),
      "content[0].approved must be true or false",
    ],
  ])("%s", (_name, message, problem) => {
    const error = thrown(() => format.encode(message as never));
    expect(error.code).toBe("INVALID_MESSAGE");
    expect(error.message).toContain(problem);
    expect(error.message).not.toContain("secret");

    const stored = JSON.stringify({ format: "model-message", version: 1, message });
    const read = thrown(() => format.decode(stored));
    expect(read.code).toBe("CORRUPT_RECORD");
    expect(read.message).toContain(problem);
    expect(read.message).not.toContain("secret");
  });

  test("members that throw are refused, by their path where they throw at once", () => {
    const throwing = (of: string, after: number): object => {
      let reads = 0;
      return Object.defineProperty({}, of, {
        enumerable: true,
        get: () => {
          if (reads++ >= after) throw new Error("secret");
          return "text";
        },
      });
    };
    expect(thrown(() => format.encode(throwing("role", 0) as never)).message).toMatch(
      /^message\.role is a member/,
    );
    expect(thrown(() => format.encode(throwing("role", 1) as never))).toMatchObject({
      code: "INVALID_MESSAGE",
      message: "message has a member that throws when it is read.",
    });
  });

  test("a part of an unknown type, even one named like an inherited member, is kept", () => {
    for (const type of ["hologram", "toString", "__proto__", "constructor", ""]) {
      const message = assistant({ type, depth: 3 });
      expect(format.decode(format.encode(message))).toEqual(message);
    }
  });

  test("other formats and later versions", () => {
    expect(thrown(() => format.decode('{"format":"openai-chat","version":1,"message":{}}')).code).toBe(
      "CORRUPT_RECORD",
    );
    expect(
      thrown(() =>
        format.decode('{"format":"model-message","version":2,"message":{"role":"user","content":"a"}}'),
      ).code,
    ).toBe("UNSUPPORTED_VERSION");
  });
});
