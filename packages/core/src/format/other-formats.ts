/** A format of `@turnkeep/formats`, and what only its messages have. */
interface OtherFormat {
  readonly format: string;
  readonly entry: string;
  /** `byParts`: the format that alone has one of the message's parts, if there is such a part. */
  readonly owns: (message: Readonly<Record<string, unknown>>, byParts: string | undefined) => boolean;
}

const isText = (value: unknown): boolean => typeof value === "string";

/** The types of content that only one format has. */
const ownersOfParts: ReadonlyMap<unknown, string> = new Map([
  ...["image_url", "input_audio"].map((type) => [type, "openaiFormat"] as const),
  ...["tool_use", "tool_result", "server_tool_use", "thinking"].map(
    (type) => [type, "anthropicFormat"] as const,
  ),
  ...["input_text", "output_text", "input_image"].map((type) => [type, "openaiResponsesFormat"] as const),
]);

function ownerOfParts(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined;
  for (const part of content) {
    const owner = ownersOfParts.get(part?.type);
    if (owner !== undefined) return owner;
  }
  return undefined;
}

const items: ReadonlySet<unknown> = new Set(["message", "function_call", "function_call_output"]);
const javaTypes: ReadonlySet<unknown> = new Set(["SYSTEM", "USER", "AI", "TOOL_EXECUTION_RESULT"]);

/** Whether that is a list of objects without a type, as Gemini's parts and Bedrock's blocks are. */
function areUntyped(parts: unknown): boolean {
  if (!Array.isArray(parts) || parts.length === 0) return false;
  return parts.every((part) => typeof part === "object" && part !== null && part.type === undefined);
}

const otherFormats: readonly OtherFormat[] = [
  {
    format: "geminiFormat",
    entry: "gemini",
    owns: ({ role, parts }) => role === "model" || areUntyped(parts),
  },
  { format: "uiMessageFormat()", entry: "ai-sdk", owns: ({ parts }) => Array.isArray(parts) },
  {
    format: "bedrockFormat",
    entry: "bedrock",
    owns: ({ content }) => areUntyped(content),
  },
  {
    format: "ollamaFormat",
    entry: "ollama",
    owns: ({ role, tool_calls: calls, tool_name: name }) =>
      (role === "tool" && isText(name)) ||
      (Array.isArray(calls) &&
        calls.length > 0 &&
        calls.every((call) => call?.function && call.id === undefined)),
  },
  {
    format: "openaiFormat",
    entry: "openai",
    owns: ({ role, content, tool_calls: calls, tool_call_id: id }, byParts) =>
      (Array.isArray(calls) && calls.length > 0) ||
      isText(id) ||
      role === "developer" ||
      (role === "assistant" && content === null) ||
      byParts === "openaiFormat",
  },
  {
    format: "anthropicFormat",
    entry: "anthropic",
    owns: (_, byParts) => byParts === "anthropicFormat",
  },
  {
    format: "openaiResponsesFormat",
    entry: "openai-responses",
    owns: ({ type }, byParts) => items.has(type) || byParts === "openaiResponsesFormat",
  },
  { format: "langchain4jFormat", entry: "langchain4j", owns: ({ type }) => javaTypes.has(type) },
];

/**
 * What to do with a message of another format. It may pass for one of the default format, whose calls or results no memory
 * would see.
 */
export function hintOfFormat(message: Readonly<Record<string, unknown>>): string | undefined {
  const byParts = ownerOfParts(message.content);
  const other = otherFormats.find(({ owns }) => owns(message, byParts));
  return (
    other &&
    `message is of another format: give the memory { format: ${other.format} } of @turnkeep/formats/${other.entry}.`
  );
}
