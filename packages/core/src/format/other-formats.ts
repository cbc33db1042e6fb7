/** A format of `@turnkeep/formats`, and what only its messages have. */
interface OtherFormat {
  readonly format: string;
  readonly entry: string;
  readonly owns: (message: Readonly<Record<string, unknown>>) => boolean;
}

const isText = (value: unknown): boolean => typeof value === "string";

const blocks: ReadonlySet<unknown> = new Set(["tool_use", "tool_result", "server_tool_use", "thinking"]);
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
    owns: ({ tool_calls: calls, tool_call_id: id }) =>
      (Array.isArray(calls) && calls.length > 0) || isText(id),
  },
  {
    format: "anthropicFormat",
    entry: "anthropic",
    owns: ({ content }) => Array.isArray(content) && content.some((part) => blocks.has(part?.type)),
  },
  { format: "openaiResponsesFormat", entry: "openai-responses", owns: ({ type }) => items.has(type) },
  { format: "langchain4jFormat", entry: "langchain4j", owns: ({ type }) => javaTypes.has(type) },
];

/**
 * What to do with a message of another format. It may pass for one of the default format, whose calls or results no memory
 * would see.
 */
export function hintOfFormat(message: Readonly<Record<string, unknown>>): string | undefined {
  const other = otherFormats.find(({ owns }) => owns(message));
  return (
    other &&
    `message is of another format: give the memory { format: ${other.format} } of @turnkeep/formats/${other.entry}.`
  );
}
