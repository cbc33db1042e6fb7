import { readFileSync } from "node:fs";
import { isTurnkeepError } from "@turnkeep/core";
import { describe, expect, it } from "vitest";
import {
  type LangChain4jMessage,
  langchain4jFormat,
  messageFromJson,
  messagesFromJson,
  messagesToJson,
  messageToJson,
} from "../src/langchain4j.ts";

/** A message or a content as the recording writes it: members of Java's objects under short names. */
interface Recorded {
  readonly role?: string;
  readonly type?: string;
  readonly text?: string;
  readonly contents?: readonly (Recorded | null)[];
  readonly [member: string]: unknown;
}

interface Case {
  readonly name: string;
  readonly kind: "encode" | "encodeList" | "decode" | "decodeList" | "construct";
  readonly tags?: readonly string[];
  readonly message?: Recorded | null;
  readonly messages?: readonly (Recorded | null)[];
  readonly json?: string | null;
  readonly decoded?: unknown;
  readonly reencoded?: string;
  readonly error?: object;
}

const file = new URL("./vectors/langchain4j-serializer.json", import.meta.url);
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { readonly cases: readonly Case[] };

const media: Readonly<Record<string, readonly [member: string, data: string]>> = {
  image: ["image", "base64Data"],
  audio: ["audio", "base64Data"],
  video: ["video", "base64Data"],
  pdf: ["pdfFile", "base64Data"],
};

function contentOf(recorded: Recorded | null): unknown {
  if (recorded === null) return null;
  const { type = "", text, missing, base64, binary, detailLevel, ...rest } = recorded;
  if (type === "text") return { type: "TEXT", text };
  const [member, data] = media[type] as [string, string];
  const medium = { ...rest, ...given({ [data]: base64, binaryData: binary }) };
  return {
    ...(missing === true ? {} : { [member]: medium }),
    ...given({ detailLevel }),
    type: type.toUpperCase(),
  };
}

function given(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined));
}

function messageOf(recorded: Recorded | null): LangChain4jMessage {
  if (recorded === null) return null as never;
  const { role, text, contents, name, toolCalls, toolCallId, ...rest } = recorded;
  // To LangChain4j, no contents are the same as none given.
  const all = contents?.length === 0 && text !== undefined ? undefined : contents;
  const parts = all?.map(contentOf) ?? (text === undefined ? undefined : [{ type: "TEXT", text }]);
  const message = {
    system: { type: "SYSTEM", text },
    user: { type: "USER", name, contents: parts },
    assistant: { type: "AI", text, toolExecutionRequests: toolCalls },
    tool: { type: "TOOL_EXECUTION_RESULT", id: toolCallId, contents: parts },
    custom: { type: "CUSTOM" },
  }[role as string] as object;
  return { ...given({ ...message }), ...rest } as never;
}

/** What a test cannot hold: Java's null for a list, and an object of Java's own inside an attribute. */
const javas = ["list-null", "ai-attribute-image-object-is-not-restored"];
/** Java's builder refuses it, and its JSON, which is what we write, has it. */
const builders = ["make-image-blank-base64"];

/** Java's hash order is no order; the kinds of numbers are in JSON's text only, which `JSON.parse` forgets. */
function expectJson(written: string, expected: string, { tags = [] }: Case, isRead = false): void {
  if (tags.includes("numbers") && !isRead) return;
  if (tags.includes("hash-order")) expect(JSON.parse(written)).toEqual(JSON.parse(expected));
  else expect(written).toBe(expected);
}

function expectRefused(run: () => unknown): void {
  let refused: unknown;
  try {
    run();
  } catch (error) {
    refused = error;
  }
  expect(isTurnkeepError(refused), String(refused)).toBe(true);
}

const check: Readonly<Record<Case["kind"], (recorded: Case) => void>> = {
  encode(recorded) {
    const { message = null, json = "", decoded = message } = recorded;
    expectJson(messageToJson(messageOf(message)), json as string, recorded);
    const again = messageToJson(messageFromJson(json as string));
    expectJson(again, messageToJson(messageOf(decoded as Recorded)), recorded);
    if (decoded === message) expectJson(again, json as string, recorded, true);
  },
  encodeList(recorded) {
    const { messages = [], json = "", decoded = messages } = recorded;
    expectJson(messagesToJson(messages.map(messageOf)), json as string, recorded);
    const again = messagesToJson((decoded as Recorded[]).map(messageOf));
    expectJson(messagesToJson(messagesFromJson(json as string)), again, recorded);
  },
  decode(recorded) {
    const { json, decoded, reencoded, error } = recorded;
    if (error !== undefined) return expectRefused(() => messageFromJson(json as string));
    const message = messageFromJson(json as string);
    expectJson(messageToJson(message), messageToJson(messageOf(decoded as Recorded)), recorded);
    if (reencoded !== undefined) expectJson(messageToJson(message), reencoded, recorded, true);
  },
  decodeList(recorded) {
    const { json, decoded, reencoded, error } = recorded;
    if (error !== undefined) return expectRefused(() => messagesFromJson(json as string));
    const messages = messagesFromJson(json as string);
    expectJson(messagesToJson(messages), messagesToJson((decoded as Recorded[]).map(messageOf)), recorded);
    if (reencoded !== undefined) expectJson(messagesToJson(messages), reencoded, recorded, true);
  },
  construct({ message = null, error }) {
    const encode = (): string => langchain4jFormat.encode(messageOf(message));
    if (error !== undefined) expectRefused(encode);
    else expect(encode()).toContain("{");
  },
};

describe("LangChain4j's recorded JSON", () => {
  const held = cases.filter(({ name }) => !javas.includes(name) && !builders.includes(name));
  it.each(held.map((recorded) => [`${recorded.kind} ${recorded.name}`, recorded] as const))(
    "%s",
    (_, recorded) => {
      check[recorded.kind](recorded);
    },
  );
});
