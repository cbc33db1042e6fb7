import type { LangChain4jMessage } from "../src/langchain4j.ts";
import { link, pdf, pdfLink, png, type Samples } from "./sample-values.ts";

function contents(content: object): LangChain4jMessage[] {
  return [{ type: "USER", contents: [content] } as LangChain4jMessage];
}

const request = { id: "call-1", name: "find", arguments: '{"a":1}' };

export const langchain4j: Samples<LangChain4jMessage> = {
  "`SYSTEM`": [{ type: "SYSTEM", text: "Be brief." }],
  "`TEXT`": contents({ type: "TEXT", text: "Hello" }),
  "`name`": [{ type: "USER", name: "Ada", contents: [{ type: "TEXT", text: "Hello" }] }],
  "`attributes`": [{ type: "USER", attributes: { a: 1 }, contents: [{ type: "TEXT", text: "Hello" }] }],
  "`IMAGE` (base64)": contents({ type: "IMAGE", image: { base64Data: png, mimeType: "image/png" } }),
  "`IMAGE` (url)": contents({ type: "IMAGE", image: { url: link } }),
  "`IMAGE.detailLevel`": contents({ type: "IMAGE", image: { url: link }, detailLevel: "HIGH" }),
  "`AUDIO`": contents({ type: "AUDIO", audio: { base64Data: "UklGRg==", mimeType: "audio/wav" } }),
  "`VIDEO`": contents({ type: "VIDEO", video: { base64Data: "AAAA", mimeType: "video/mp4" } }),
  "`PDF` (base64)": contents({ type: "PDF", pdfFile: { base64Data: pdf } }),
  "`PDF` (url)": contents({ type: "PDF", pdfFile: { url: pdfLink } }),
  answer: [{ type: "AI", text: "Hello" }],
  "`thinking`": [{ type: "AI", text: "4", thinking: "2 + 2" }],
  call: [{ type: "AI", toolExecutionRequests: [request] }],
  result: [
    { type: "AI", toolExecutionRequests: [request] },
    {
      type: "TOOL_EXECUTION_RESULT",
      id: "call-1",
      toolName: "find",
      contents: [{ type: "TEXT", text: "4" }],
    },
  ],
  "`isError`": [
    { type: "AI", toolExecutionRequests: [request] },
    {
      type: "TOOL_EXECUTION_RESULT",
      id: "call-1",
      toolName: "find",
      isError: true,
      contents: [{ type: "TEXT", text: "4" }],
    },
  ],
  "`CUSTOM`": [{ type: "CUSTOM", attributes: { a: 1 } }],
};
