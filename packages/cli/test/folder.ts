import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder that is gone when the test ends. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "turnkeep-cli-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** A file with these lines: text as it is, anything else as JSON. */
export function testFile(lines: readonly unknown[], end = "\n"): string {
  const path = join(testFolder(), "input.jsonl");
  const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  writeFileSync(path, texts.map((text) => text + end).join(""));
  return path;
}

/** A conversation of so many turns with a call and its result in each. */
export function toolConversation(id: string, turns: number): { id: string; messages: object[] } {
  const messages: object[] = [{ role: "system", content: "Answer with the tool." }];
  for (let turn = 1; turn <= turns; turn += 1) {
    messages.push(
      {
        role: "user",
        content: `Question number ${turn}, in so many words that a few of them fill a window.`,
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: `c${turn}`, type: "function", function: { name: "ask", arguments: `{"turn":${turn}}` } },
        ],
      },
      { role: "tool", tool_call_id: `c${turn}`, content: `Result of question ${turn}` },
      { role: "assistant", content: `Answer number ${turn}` },
    );
  }
  return { id, messages };
}
