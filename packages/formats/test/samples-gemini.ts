import type { GeminiContent } from "../src/gemini.ts";
import { link, pdf, png, type Samples } from "./sample-values.ts";

function parts(role: "user" | "model", ...all: object[]): GeminiContent[] {
  return [{ role, parts: all }];
}

const call = { functionCall: { id: "call-1", name: "find", args: { a: 1 } } };

function response(members: object): GeminiContent[] {
  return [
    ...parts("model", call),
    ...parts("user", { functionResponse: { id: "call-1", name: "find", ...members } }),
  ];
}

const image = { inlineData: { mimeType: "image/png", data: png } };

export const gemini: Samples<GeminiContent> = {
  "system instruction": [{ role: "system", parts: [{ text: "Be brief." }] }],
  text: parts("user", { text: "Hello" }),
  "text with a `thoughtSignature`": parts("model", { text: "Hello", thoughtSignature: "c2ln" }),
  "`inlineData` (image)": parts("user", image),
  "`inlineData` (PDF)": parts("user", { inlineData: { mimeType: "application/pdf", data: pdf } }),
  "`inlineData` (the model's)": parts("model", image),
  "`fileData` (image)": parts("user", { fileData: { mimeType: "image/png", fileUri: link } }),
  "`fileData` (video)": parts("user", {
    fileData: { mimeType: "video/mp4", fileUri: "https://example.org/a.mp4" },
    videoMetadata: { startOffset: "1s" },
  }),
  thought: parts("model", { text: "2 + 2", thought: true }, { text: "4" }),
  "image of a thought": parts("model", { ...image, thought: true }, { text: "4" }),
  "`functionCall`": parts("model", call),
  "`functionCall` with a `thoughtSignature`": parts("model", { ...call, thoughtSignature: "c2ln" }),
  "`functionCall` and response without ids": [
    ...parts("model", { functionCall: { name: "find", args: { a: 1 } } }),
    ...parts("user", { functionResponse: { name: "find", response: { output: "4" } } }),
  ],
  "response (`output`)": response({ response: { output: "4" } }),
  "response (JSON)": response({ response: { sum: 4 } }),
  "response (`error`)": response({ response: { error: "Not found." } }),
  "response (image)": response({ response: { output: "4" }, parts: [image] }),
  "code that the API runs, and its result": parts(
    "model",
    { executableCode: { language: "PYTHON", code: "2 + 2" } },
    { codeExecutionResult: { outcome: "OUTCOME_OK", output: "4" } },
  ),
  "tools that the API runs": parts(
    "model",
    {
      toolCall: { id: "t-1", toolType: "GOOGLE_SEARCH_WEB", args: { queries: ["a"] } },
      thoughtSignature: "c2ln",
    },
    { toolResponse: { id: "t-1", toolType: "GOOGLE_SEARCH_WEB", response: { a: 1 } } },
  ),
};
