import fc from "fast-check";
import type { GeminiContent } from "../src/gemini.ts";
import { base64, id, json, record, some, text } from "./arbitrary-values.ts";

const name = fc.constantFrom("find", "weather");
const input = fc.dictionary(fc.constantFrom("a", "b", "output"), json, { maxKeys: 2, noNullPrototype: true });
const mimeType = fc.constantFrom("image/png", "application/pdf", "video/mp4", "text/plain");
const signed = { thoughtSignature: fc.constantFrom("c2ln", "c2lnMg==") };
const thought = { ...signed, thought: fc.boolean() };

const blob = record({ mimeType, data: base64 }, { displayName: text });
const fileData = record(
  { fileUri: fc.constantFrom("https://example.org/a.png", "gs://bucket/a.mp4") },
  { mimeType },
);

/** What the API gives, and what it takes under the names of its REST documents. */
const call = fc.oneof(
  record({ functionCall: record({ name }, { id, args: input }) }, signed),
  record(
    { function_call: record({ name }, { id, args: input }) },
    { thought_signature: signed.thoughtSignature },
  ),
);
const responsePart = fc.oneof(
  { weight: 4, arbitrary: record({ inlineData: blob }) },
  { weight: 4, arbitrary: record({ fileData }) },
  { weight: 1, arbitrary: record({ x_part: json }) },
);
const response = fc.oneof(
  record({ functionResponse: record({ name, response: input }, { id, parts: some(responsePart) }) }),
  record({ function_response: record({ name }, { id, response: input }) }),
);

/** Of what the API runs itself. */
const own = fc.constant("srv_1");

export const kindsOfPart: Readonly<Record<string, fc.Arbitrary<object>>> = {
  text: record({ text }, thought),
  inlineData: record({ inlineData: blob }, thought),
  fileData: record({ fileData }, { videoMetadata: record({ startOffset: fc.constant("1s") }) }),
  functionCall: call,
  functionResponse: response,
  executableCode: record(
    { executableCode: record({ code: text }, { language: fc.constant("PYTHON") }) },
    signed,
  ),
  codeExecutionResult: record({
    codeExecutionResult: record({ outcome: fc.constant("OUTCOME_OK") }, { output: text }),
  }),
  toolCall: record(
    { toolCall: record({ id: own }, { toolType: fc.constant("URL_CONTEXT"), args: input }) },
    signed,
  ),
  toolResponse: record({ toolResponse: record({ id: own }, { response: input }) }),
  unknown: record({ x_part: json }, signed),
};

const isOfModel = (kind: string): boolean => kind !== "functionResponse";
const isOfUser = (kind: string): boolean =>
  ["text", "inlineData", "fileData", "functionResponse", "unknown"].includes(kind);

function contentOf(role: string, fits: (kind: string) => boolean): fc.Arbitrary<GeminiContent> {
  const parts = Object.entries(kindsOfPart).flatMap(([kind, part]) => (fits(kind) ? [part] : []));
  return record({ role: fc.constant(role), parts: some(fc.oneof(...parts)) }) as fc.Arbitrary<GeminiContent>;
}

const user = contentOf("user", isOfUser);

export const geminiContent: fc.Arbitrary<GeminiContent> = fc.oneof(
  { weight: 4, arbitrary: user },
  { weight: 4, arbitrary: contentOf("model", isOfModel) },
  { weight: 2, arbitrary: contentOf("user", (kind) => kind === "functionResponse") },
  { weight: 1, arbitrary: contentOf("system", (kind) => kind === "text") },
  { weight: 1, arbitrary: user.map(({ role: _, ...content }) => content) },
);

export const contentOfEachPart: readonly (readonly [string, fc.Arbitrary<GeminiContent>])[] = Object.entries(
  kindsOfPart,
).map(([kind, part]) => [
  kind,
  record({
    role: fc.constant(isOfUser(kind) ? "user" : "model"),
    parts: some(part, 1),
  }) as fc.Arbitrary<GeminiContent>,
]);
