/** One thing that was said, whatever the protocol. */
export type Said =
  | { readonly by: "user"; readonly text: string }
  | { readonly by: "model"; readonly text: string; readonly calls: readonly BotCall[] }
  | { readonly by: "tool"; readonly text: string };

export interface BotCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What a model is sent. */
export interface Conversation {
  readonly said: readonly Said[];
  readonly tools: readonly string[];
}

/** What it answers. */
export interface BotAnswer {
  readonly text: string;
  readonly calls: readonly BotCall[];
}

/**
 * A model made of three rules: for cities it calls the tool `weather`, once for each; with results it says them; and
 * it knows what it was asked first, if that is still in what it is sent.
 */
export function weatherBot({ said, tools }: Conversation): BotAnswer {
  const last = said.at(-1);
  if (last?.by === "tool") {
    const from = said.findLastIndex(({ by }) => by === "model");
    const results = said.slice(from + 1).map(({ text }) => text);
    return { text: `${results.join(", and ")}.`, calls: [] };
  }
  const question = said.findLast(({ by }) => by === "user")?.text ?? "";
  if (/first/.test(question)) {
    const first = said.find(({ by }) => by === "user")?.text;
    return { text: `The first thing I know of is: ${first}`, calls: [] };
  }
  const cities = [...question.matchAll(/\b(?:in|and)\s+(\p{Lu}\p{L}+)/gu)].map(([, city]) => city as string);
  if (cities.length === 0 || !tools.includes("weather"))
    return { text: "Ask me for the weather in a city.", calls: [] };
  return { text: "", calls: cities.map((city) => ({ name: "weather", input: { city } })) };
}
