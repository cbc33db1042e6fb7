/** A format of `@turnkeep/formats`, and what only its messages have. */
interface OtherFormat {
  readonly format: string;
  readonly entry: string;
  /** The types of its parts that no other format has. */
  readonly parts?: readonly string[];
  readonly owns?: (message: Readonly<Record<string, unknown>>) => boolean;
}

const isText = (value: unknown): boolean => typeof value === "string";

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
    parts: ["image_url", "input_audio"],
    owns: ({ role, content, tool_calls: calls, tool_call_id: id }) =>
      (Array.isArray(calls) && calls.length > 0) ||
      isText(id) ||
      role === "developer" ||
      (role === "assistant" && content === null),
  },
  {
    format: "anthropicFormat",
    entry: "anthropic",
    parts: ["tool_use", "tool_result", "server_tool_use", "thinking"],
  },
  {
    format: "openaiResponsesFormat",
    entry: "openai-responses",
    parts: ["input_text", "output_text", "input_image"],
    owns: ({ type }) => items.has(type),
  },
  { format: "langchain4jFormat", entry: "langchain4j", owns: ({ type }) => javaTypes.has(type) },
];

const ownersOfParts: ReadonlyMap<unknown, OtherFormat> = /* @__PURE__ */ byParts();

function byParts(): ReadonlyMap<unknown, OtherFormat> {
  return new Map(otherFormats.flatMap((other) => (other.parts ?? []).map((type) => [type, other] as const)));
}

function ownerOfParts(content: unknown): OtherFormat | undefined {
  if (!Array.isArray(content)) return undefined;
  for (const part of content) {
    const owner = ownersOfParts.get(part?.type);
    if (owner !== undefined) return owner;
  }
  return undefined;
}

/**
 * What to do with a message of another format. It may pass for one of the default format, whose calls or results no memory
 * would see.
 */
export function hintOfFormat(message: Readonly<Record<string, unknown>>): string | undefined {
  const byParts = ownerOfParts(message.content);
  const other = otherFormats.find((each) => each === byParts || each.owns?.(message));
  return (
    other &&
    `message is of another format: give the memory { format: ${other.format} } of @turnkeep/formats/${other.entry}.`
  );
}
