import type { StandardSchema, Tool } from "../src/index.ts";

/** A tool whose arguments LangChain4j itself reads, and whose result it renders. */
export interface TypedTool {
  readonly params: Readonly<Record<string, string>>;
  readonly returns: string;
}

type Values = Readonly<Record<string, unknown>>;

/** What the recorded typed tools do, by name. */
const functions: Readonly<Record<string, (values: Values) => unknown>> = {
  add: ({ a, b }) => (a as number) + (b as number),
  quote: ({ text }) => `"${text as string}"`,
};

export function typedTool(
  name: string,
  { params }: TypedTool,
  onRun: (parsed: string) => void,
): Pick<Tool<Values>, "inputSchema" | "jsonSchema" | "execute"> {
  return {
    inputSchema: schemaOf(params),
    jsonSchema: {
      type: "object",
      properties: Object.fromEntries(Object.keys(params).map((key) => [key, {}])),
    },
    execute: (values) => {
      const run = functions[name];
      if (run === undefined) throw new Error(`nobody knows what ${name} does`);
      onRun(
        Object.entries(values)
          .map(([key, value]) => `${key}=${String(value)}`)
          .join(", "),
      );
      return run(values);
    },
  };
}

/** Reads arguments as LangChain4j does: what is unknown is left out, numbers may come as text, anything becomes text. */
function schemaOf(params: Readonly<Record<string, string>>): StandardSchema<Values> {
  return {
    "~standard": {
      version: 1,
      vendor: "langchain4j",
      validate: (value) => {
        const given = value as Values;
        const read = Object.entries(params).map(([key, type]) => [key, readAs(type, given[key])] as const);
        const wrong = read.filter(([, result]) => result === undefined);
        return wrong.length === 0
          ? { value: Object.fromEntries(read) }
          : { issues: wrong.map(([key]) => ({ message: "does not fit", path: [key] })) };
      },
    },
  };
}

function readAs(type: string, value: unknown): unknown {
  if (type === "string")
    return value === undefined ? null : typeof value === "string" ? value : JSON.stringify(value);
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) ? number : undefined;
}

/** The arguments once more, after LangChain4j's repairs: a quote at either end, and commas before a closing bracket. */
export function javaArguments(text: unknown): unknown {
  if (typeof text !== "string") return undefined;
  const unquoted = text.replace(/^"/, "").replace(/"$/, "").replaceAll('\\"', '"');
  try {
    return JSON.parse(unquoted.replaceAll(/,\s*([}\]])/g, "$1"));
  } catch {
    return undefined;
  }
}
