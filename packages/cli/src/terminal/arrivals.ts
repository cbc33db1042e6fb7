import type { MessageFormat } from "@turnkeep/core";

/** One message, or several of a kind, as they came in. */
export interface Arrival {
  readonly who: "system" | "user" | "assistant" | "tool";
  readonly text: string;
}

/** What came in, for people: texts, the names of called tools, and results that follow each other in one line. */
export function arrivalsOf(messages: readonly unknown[], format: MessageFormat<unknown>): readonly Arrival[] {
  const arrivals: Arrival[] = [];
  let results: { count: number; text: string } | undefined;
  const endResults = (): void => {
    if (results === undefined) return;
    const what = results.count === 1 ? "result" : `${results.count} results`;
    arrivals.push({ who: "tool", text: `${what}: ${results.text}` });
    results = undefined;
  };
  for (const message of messages) {
    const who = format.role(message);
    if (who === "tool") {
      results = {
        count: (results?.count ?? 0) + Math.max(1, format.toolResults(message).length),
        text: results?.text ?? textOf(message, format, "tool-result"),
      };
      continue;
    }
    endResults();
    const text = textOf(message, format, "content");
    const calls = format.toolCalls(message).map((call) => call.name);
    const called = calls.length > 0 ? `calls ${calls.join(", ")}` : "";
    arrivals.push({ who, text: [called, text].filter((part) => part !== "").join(" · ") });
  }
  endResults();
  return arrivals;
}

/** The beginning of a message's text: what stands in one place of it, and its media by type. */
function textOf(message: unknown, format: MessageFormat<unknown>, place: "content" | "tool-result"): string {
  const texts = format.pieces(message).flatMap((piece) => {
    if (piece.type === "media") return [`[${piece.mediaType ?? "a file"}]`];
    return piece.of === place ? [piece.text.slice(0, 2_000)] : [];
  });
  return texts.join(" ").trim();
}
