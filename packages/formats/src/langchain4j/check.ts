import { isObject } from "@turnkeep/core/format-kit";
import { trimmed } from "./java.ts";
import { memberOf, refused } from "./places.ts";

const types: readonly unknown[] = ["SYSTEM", "USER", "AI", "TOOL_EXECUTION_RESULT", "CUSTOM"];
const mediaMembers: ReadonlyMap<string, string> = new Map([
  ["IMAGE", "image"],
  ["AUDIO", "audio"],
  ["VIDEO", "video"],
  ["PDF", "pdfFile"],
]);
const mediaTexts = ["url", "base64Data", "binaryData", "mimeType", "revisedPrompt"];

/**
 * Refuses what LangChain4j could not build. Members and contents that it does not know pass: they are kept as they are.
 * Throws `INVALID_MESSAGE`, which never repeats content.
 */
export function checkMessage(message: unknown, place = "message"): void {
  if (!isObject(message)) throw refused(place, "must be an object with a type.");
  const { type } = message;
  if (!types.includes(type)) throw refused(memberOf(place, "type"), `must be one of ${types.join(", ")}.`);
  switch (type) {
    case "SYSTEM":
      if (typeof message.text !== "string" || trimmed(message.text) === "")
        throw refused(memberOf(place, "text"), "must be a text that is not blank.");
      break;
    case "USER":
      checkTexts(message, place, ["name"]);
      checkContents(message.contents, memberOf(place, "contents"));
      break;
    case "AI":
      checkTexts(message, place, ["text", "thinking"]);
      checkCalls(message.toolExecutionRequests, memberOf(place, "toolExecutionRequests"));
      break;
    case "TOOL_EXECUTION_RESULT":
      checkTexts(message, place, ["id", "toolName"]);
      checkContents(message.contents, memberOf(place, "contents"));
      if (message.isError !== undefined && typeof message.isError !== "boolean")
        throw refused(memberOf(place, "isError"), "must be true or false, or absent.");
      break;
  }
  const { attributes, attributeDoubles: doubles } = message;
  if (attributes !== undefined && !isObject(attributes))
    throw refused(memberOf(place, "attributes"), "must be an object.");
  if (doubles !== undefined && !(Array.isArray(doubles) && doubles.every((one) => typeof one === "string")))
    throw refused(memberOf(place, "attributeDoubles"), "must be a list of JSON pointers.");
}

function checkContents(contents: unknown, place: string): void {
  if (!Array.isArray(contents) || contents.length === 0)
    throw refused(place, "must be a list of at least one content.");
  contents.forEach((content: unknown, index) => {
    if (content !== null) checkContent(content, `${place}[${index}]`);
  });
}

function checkContent(content: unknown, place: string): void {
  if (!isObject(content) || typeof content.type !== "string")
    throw refused(place, "must be an object with a type.");
  const { type } = content;
  if (type === "TEXT" && typeof content.text !== "string")
    throw refused(memberOf(place, "text"), "must be a text.");
  const member = mediaMembers.get(type);
  if (member === undefined) return;
  const medium = content[member];
  if (medium === undefined && type !== "IMAGE") return;
  if (!isObject(medium)) throw refused(memberOf(place, member), "must be an object.");
  checkTexts(medium, memberOf(place, member), mediaTexts);
  if (type === "IMAGE") checkTexts(content, place, ["detailLevel"]);
}

function checkCalls(calls: unknown, place: string): void {
  if (calls === undefined) return;
  if (!Array.isArray(calls)) throw refused(place, "must be a list.");
  calls.forEach((call: unknown, index) => {
    if (call === null) return;
    if (!isObject(call)) throw refused(`${place}[${index}]`, "must be an object.");
    checkTexts(call, `${place}[${index}]`, ["id", "name", "arguments"]);
  });
}

function checkTexts(of: Record<string, unknown>, place: string, members: readonly string[]): void {
  for (const member of members) {
    const value = of[member];
    if (value !== undefined && typeof value !== "string")
      throw refused(memberOf(place, member), "must be a text, or absent.");
  }
}
