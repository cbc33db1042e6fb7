import { assistant, type ModelMessage, system, toolResult, user } from "@turnkeep/core";
import { noise } from "./measure.ts";

/** Sentences of what conversations hold: English, code, Chinese, emoji. Written for this benchmark. */
const sentences: readonly string[] = [
  "Could you look at the booking again and tell me whether the second passenger can still change the date? ",
  "The invoice says 240 euros, but the mail that I got last Tuesday promised a discount of fifteen percent. ",
  "I have checked that for you: the fare allows one change free of charge until the day before departure. ",
  "First restart the router, wait for the green light, then open the page again and tell me what you see. ",
  "```ts\nexport function total(lines: readonly Line[]): number {\n  return lines.reduce((sum, { price, count }) => sum + price * count, 0);\n}\n``` ",
  "```sql\nselect customer_id, sum(amount) from orders where created_at > now() - interval '30 days' group by 1;\n``` ",
  "请帮我查一下明天从上海到北京的高铁,最好是上午九点以后出发的车次。",
  "已经为您查到三个车次,其中两个还有二等座,票价五百五十三元。",
  "Super, merci beaucoup 🎉🙏 that worked 👍🏽 and the kids are happy too 👨‍👩‍👧‍👦 ",
  "Noted ✅ I will remind you two hours before ⏰ ",
];

/**
 * A conversation of `count` messages without an end of its own: a system message, then turns of a question and either an
 * answer or a step with one or two calls, their results and an answer. The same for the same seed.
 */
export function conversation(count: number, seed = 1): ModelMessage[] {
  const messages: ModelMessage[] = [];
  for (const message of endlessConversation(seed)) {
    if (messages.length === count) return messages;
    messages.push(message);
  }
  return messages;
}

/** Messages one by one, to be added to a conversation that is there; never a system message. */
export function newMessages(seed: number): () => ModelMessage {
  const messages = endlessConversation(seed);
  messages.next();
  return () => messages.next().value;
}

export function* endlessConversation(seed = 1): Generator<ModelMessage, never> {
  const numbers = noise(seed);
  const below = (limit: number): number => numbers.next().value % limit;
  // A number in each, so that no two are the same.
  const text = (most: number): string =>
    Array.from({ length: 1 + below(most) }, () => sentences[below(sentences.length)]).join("") +
    below(65_536);
  yield system(
    "You are the assistant of a travel agency. Be brief, and ask before you book. 您也可以说中文。",
  );
  for (let turn = 1; ; turn++) {
    yield user(text(4));
    if (below(3) === 0) {
      const ids = Array.from({ length: 1 + below(2) }, (_, index) => `call_${turn}_${index}`);
      yield {
        role: "assistant",
        content: [
          { type: "text", text: text(1) },
          ...ids.map((toolCallId) => ({
            type: "tool-call" as const,
            toolCallId,
            toolName: "search",
            input: { query: text(1), limit: below(20), currency: "EUR" },
          })),
        ],
      };
      for (const id of ids) {
        const offers = Array.from({ length: 1 + below(6) }, (_, index) => ({
          id: `offer-${turn}-${index}`,
          price: below(90_000) / 100,
          seats: below(9),
          note: sentences[below(sentences.length)],
        }));
        yield toolResult(id, "search", { offers });
      }
    }
    yield assistant(text(6));
  }
}
