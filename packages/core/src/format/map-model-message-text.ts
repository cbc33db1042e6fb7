import type { TextPlace } from "../message-format.ts";
import { type AnyPart, isCompaction, partsOf, withParts } from "./any-part.ts";
import { mapJsonText } from "./map-json-text.ts";
import type { ModelMessageLike } from "./model-message.ts";
import { asText, isMedia } from "./model-message-pieces.ts";

type Change = (text: string, of: TextPlace) => string;

/** See `MessageFormat.mapText`. */
export function mapText(message: ModelMessageLike, change: Change): ModelMessageLike {
  if (typeof message.content !== "string")
    return withParts(
      message,
      partsOf(message).map((part) => mapPart(part, change, message.role === "assistant")),
    );
  const content = change(message.content, "content");
  return content === message.content ? message : ({ ...message, content } as ModelMessageLike);
}

function mapPart(part: AnyPart, change: Change, isProviders: boolean): AnyPart {
  // A provider takes back only a compaction that it made.
  if (isCompaction(part)) return part;
  switch (part.type) {
    case "text":
      return mapMember(part, "text", "content", change);
    case "reasoning":
      return mapMember(part, "text", "reasoning", change);
    case "tool-call":
      return mapInput(part, change);
    case "tool-result": {
      const output = mapOutput(part.output as AnyPart, change, isProviders);
      return output === part.output ? part : { ...part, output };
    }
    case "reasoning-file":
    case "tool-approval-request":
    case "tool-approval-response":
      return part;
    default:
      return isMedia(part) ? part : mapUnknown(part, "content", change);
  }
}

function mapMember(part: AnyPart, member: string, of: TextPlace, change: Change): AnyPart {
  const before = asText(part[member] ?? "");
  const after = change(before, of);
  return Object.is(after, before) ? part : { ...part, [member]: after };
}

/** If the tool takes an object, providers refuse any other input. */
function mapInput(part: AnyPart, change: Change): AnyPart {
  const input = mapJsonText(part.input, asText(part.input), (text) => change(text, "tool-call"), true);
  return Object.is(input, part.input) ? part : { ...part, input };
}

const asTextOutput: ReadonlyMap<string, string> = new Map([
  ["json", "text"],
  ["error-json", "error-text"],
]);

/** A provider's own tool output must go back as it came: JSON stays JSON, and encrypted content stays as it is. */
function mapOutput(output: AnyPart, change: Change, isProviders: boolean): AnyPart {
  if (output.type === "execution-denied") return mapMember(output, "reason", "tool-result", change);
  if (output.type === "content") {
    const before = output.value as readonly AnyPart[];
    const value = before.map((part) => {
      if (part.type === "text") return mapMember(part, "text", "tool-result", change);
      return isMedia(part) ? part : mapUnknown(part, "tool-result", change);
    });
    return value.every((part, index) => part === before[index]) ? output : { ...output, value };
  }
  const before = output.value;
  if (isProviders && holdsEncrypted(before)) return output;
  const value = mapJsonText(before, asText(before), (text) => change(text, "tool-result"), isProviders);
  if (Object.is(value, before)) return output;
  const isText = !isProviders && typeof value === "string" && typeof before !== "string";
  return { ...output, type: (isText && asTextOutput.get(output.type)) || output.type, value };
}

function holdsEncrypted(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([name, member]) => name.startsWith("encrypted") || holdsEncrypted(member),
  );
}

/** A part of an unknown type is passed and taken back as JSON; if that is no such part, it becomes a text. */
function mapUnknown(part: AnyPart, of: TextPlace, change: Change): AnyPart {
  const changed = mapJsonText(part, asText(part), (text) => change(text, of), false);
  if (changed === part) return part;
  const alike = changed as Partial<AnyPart> | null;
  const isAlike = alike?.type === part.type && typeof alike.kind === typeof part.kind;
  return isAlike ? (changed as AnyPart) : { type: "text", text: asText(changed) };
}
