import { MemorySession } from "@openai/agents-core";
import { OpenAIResponsesCompactionSession } from "@openai/agents-openai";

const said = (text) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] });

/**
 * Two processes over one stored session, each with its own wrapper, as each has to. The second adds a question while the
 * first waits for the summary. Answers which texts are stored then.
 */
export async function compactedWhileAnotherWrites() {
  const stored = new MemorySession();
  const wrap = (client) => new OpenAIResponsesCompactionSession({ client, underlyingSession: stored });
  const other = wrap({});
  const compact = async () => {
    await other.addItems([said("From the other process")]);
    return { output: [said("Summary")], usage: {} };
  };
  const one = wrap({ responses: { compact } });
  await one.addItems([said("Hello"), said("Again")]);
  await one.runCompaction({ compactionMode: "input", force: true });
  return (await stored.getItems()).flatMap(({ content }) => content.map(({ text }) => text));
}
