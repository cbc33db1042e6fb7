import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isTurnkeepError } from "@turnkeep/core";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { type ReplayOptions, type ReplayReport, replay } from "../src/index.ts";
import { placeName } from "../src/places/place.ts";
import { displayWidth } from "../src/terminal/display-width.ts";
import { testFile, testFolder, toolConversation } from "./folder.ts";
import { emptyDatabase } from "./server.ts";

/** Replays with both halves in this process; the command's tests start a second one. */
async function replayed(options: ReplayOptions): Promise<ReplayReport & { readonly text: string }> {
  let text = "";
  const write = (piece: string): void => {
    text += piece;
  };
  const report = await replay({ secondHalf: "here", write, ...options });
  return { ...report, text };
}

async function changeStore(url: string, statement: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rowCount } = await client.query(statement);
  await client.end();
  return rowCount ?? 0;
}

describe("replay", () => {
  it("explains after each turn what became of every message, and shows what a provider accepts", async () => {
    const { ok, text } = await replayed({
      store: await emptyDatabase(),
      profile: "anthropic",
      explain: true,
    });
    expect(ok).toBe(true);
    const blocks = text.split(/^ {2}turn /m).slice(1);
    for (const block of blocks) {
      const [, shown] = /shown +(\d+) messages? /.exec(block) ?? [];
      const lines = block
        .split("\n")
        .filter((line) => /^ +(shown|cut|repaired) +(message \d+|put in)/.test(line));
      expect(lines.length).toBe(Number(shown));
    }
    expect(text).toMatch(/evicted +messages \d+ to \d+, by window/);
    expect(text).toMatch(/repaired +put in, by last-message, \d+ tokens: user Please continue\./);
  });

  it("refuses a profile that it does not know", async () => {
    await expect(replayed({ profile: "nobody" })).rejects.toThrow(
      /profile must be one of openai,.* "nobody"/,
    );
  });

  it("replays the shipped conversations and finds every message in its place", async () => {
    const { text, ...report } = await replayed({});
    expect(report).toMatchObject({
      ok: true,
      badLines: [],
      failures: [],
      figures: { overLimit: 0, broken: 0, overflows: 0 },
      check: {
        conversations: 6,
        turns: 31,
        messages: 113,
        repeated: 0,
        found: 113,
        superseded: 1,
        faults: [],
      },
    });
    const { live, evicted, superseded } = report.check;
    expect(live + evicted + superseded).toBe(113);
    expect(evicted).toBeGreaterThan(30);
    expect(report.figures.largestTokens).toBeGreaterThan(500);
    expect(report.figures.largestTokens).toBeLessThanOrEqual(600);
    expect(text).toContain("goes on at turn ");
    expect(text).toContain("Nothing was lost.\n");
    expect(text).not.toContain("\u001b");
    for (const line of text.split("\n")) expect(displayWidth(line)).toBeLessThanOrEqual(100);
  });

  it("shows a turn calmly", async () => {
    const file = testFile([toolConversation("small", 3)]);
    const store = await emptyDatabase();
    const { text } = await replayed({ files: [file], maxTokens: 150, columns: 90, store, run: "r" });
    expect(text.replaceAll(placeName(store), "DATABASE")).toMatchInlineSnapshot(`
      "Replaying 1 conversation: 13 messages in 3 turns
      window      150 tokens (o200k_base); over that, the oldest whole steps leave, down to 105 tokens
      store       DATABASE, memories replay/r/…; --run r goes on after an interruption

      small  OpenAI chat messages, 13 messages in 3 turns

        turn 1    system     Answer with the tool.
                  user       Question number 1, in so many words that a few of them fill a wind…
                  assistant  calls ask
                  tool       result: Result of question 1
                  assistant  Answer number 1
                  shown      5 messages    62 of 150 tokens        ███████░░░░░░░░░
                  history    5 messages: all in memory

      Half-way: 1 of 3 turns. The database is closed.
      It is opened again, as DATABASE, and the replay goes on.

      small  OpenAI chat messages, 13 messages in 3 turns; goes on at turn 2

        turn 2    user       Question number 2, in so many words that a few of them fill a wind…
                  assistant  calls ask
                  tool       result: Result of question 2
                  assistant  Answer number 2
                  shown      9 messages    112 of 150 tokens       ████████████░░░░
                  history    9 messages: all in memory

        turn 3    user       Question number 3, in so many words that a few of them fill a wind…
                  assistant  calls ask
                  tool       result: Result of question 3
                  assistant  Answer number 3
                  shown      9 messages    112 of 150 tokens       ████████████░░░░
                  left       4 messages of turn 1, because 154 tokens exceed 150
                  history    13 messages: 9 in memory, 4 no longer

      Checked: 1 conversation, read back from the store
      history     13 of 13 messages, each once, in order, with equal content
      memory      9 in memory, 4 evicted
      views       9 views, the largest 134 of 150 tokens
                  none over the limit, none with a tool call or result alone

      Nothing was lost.
      "
    `);
  });

  it("holds messages to their limit, and both limits at once", async () => {
    const file = testFile([toolConversation("a", 6)]);
    const byCount = await replayed({ files: [file], store: await emptyDatabase(), maxMessages: 9 });
    expect(byCount.ok).toBe(true);
    expect(byCount.figures.largestMessages).toBe(9);
    expect(byCount.text).toContain("because 10 messages exceed 9");
    const both = await replayed({
      files: [file],
      store: await emptyDatabase(),
      maxMessages: 5,
      maxTokens: 150,
      unit: "turn",
    });
    expect(both.ok).toBe(true);
    expect(both.figures.largestMessages).toBe(5);
    expect(both.figures.largestTokens).toBeLessThanOrEqual(150);
  });

  it("keeps everything where a step does not fit, and says that it does not", async () => {
    const long = toolConversation("long", 2);
    long.messages.push({ role: "user", content: "many words ".repeat(400) });
    const report = await replayed({
      files: [testFile([long])],
      store: await emptyDatabase(),
      maxTokens: 300,
    });
    expect(report.ok).toBe(true);
    expect(report.figures.overflows).toBe(1);
    expect(report.text).toMatch(/does not fit: the newest step alone needs [\d,]+, the limit is 300/);
    expect(report.text).toContain("1 withheld, because the newest step alone did not fit");
    expect(report.check.found).toBe(10);
  });

  it("says so where a step does not fit in the middle of a turn", async () => {
    const long = toolConversation("long", 2);
    Object.assign(long.messages[7] ?? {}, { content: "many words ".repeat(400) });
    const report = await replayed({
      files: [testFile([long])],
      store: await emptyDatabase(),
      maxTokens: 300,
    });
    expect(report.ok).toBe(true);
    expect(report.text).toMatch(
      /for a while the newest step alone did not fit: it needed \d+, the limit is 300/,
    );
  });

  it("counts an equal system message once", async () => {
    const twice = toolConversation("twice", 1);
    twice.messages.push(
      { role: "system", content: "Answer with the tool." },
      { role: "user", content: "Again." },
    );
    const report = await replayed({ files: [testFile([twice])], store: await emptyDatabase() });
    expect(report.check).toMatchObject({ messages: 7, repeated: 1, found: 6, superseded: 0 });
    expect(report.ok).toBe(true);
  });

  it("takes a call that the provider runs for accepted, whenever its result comes", async () => {
    const call = {
      type: "tool-call",
      toolCallId: "s1",
      toolName: "search",
      input: {},
      providerExecuted: true,
    };
    const output = { type: "text", value: "found" };
    const result = { type: "tool-result", toolCallId: "s1", toolName: "search", output };
    const says = (...content: object[]): object => ({ role: "assistant", content });
    const asks = { role: "user", content: "And?" };
    const lines = [
      { id: "never", messages: [asks, says(call), asks, says({ type: "text", text: "Here." })] },
      {
        id: "later",
        messages: [asks, says(call), says(result), asks, says({ type: "text", text: "Here." })],
      },
    ];
    const report = await replayed({ files: [testFile(lines)], store: await emptyDatabase() });
    expect(report).toMatchObject({ ok: true, figures: { broken: 0 } });
  });

  it("skips bad lines, replays the good ones and is not ok", async () => {
    const wizard = { id: "bad", messages: [{ role: "wizard", content: "Abracadabra" }] };
    const report = await replayed({
      files: [testFile(["{", toolConversation("good", 1), wizard])],
      store: await emptyDatabase(),
    });
    expect(report.ok).toBe(false);
    expect(report.check).toMatchObject({ conversations: 1, found: 5 });
    expect(report.text).toContain("skipped     input.jsonl, line 1: it is not JSON");
    // The fault whole, though the line is longer than the screen is wide.
    expect(report.text).toMatch(
      /skipped {5}input\.jsonl, line 3: message 1: .* one of system, user, assistant, tool\.\n/,
    );
    expect(report.text).toContain("Nothing was lost, but: 2 lines skipped.");
  });

  it("goes on where an interrupted run stopped, and adds nothing twice", async () => {
    const file = testFile([toolConversation("a", 4), toolConversation("b", 4)]);
    const options: ReplayOptions = { files: [file], store: await emptyDatabase(), run: "night" };
    const stop = new Error("interrupted");
    const interrupted = replay({
      ...options,
      secondHalf: "here",
      write: (text) => {
        if (text.includes("turn 3")) throw stop;
      },
    });
    await expect(interrupted).rejects.toBe(stop);

    const rest = await replayed(options);
    expect(rest.text).toContain("goes on at turn 4");
    expect(rest.check).toMatchObject({ messages: 34, found: 34, faults: [] });
    expect(rest.ok).toBe(true);

    const again = await replayed(options);
    expect(again.ok).toBe(true);
    expect(again.figures.views).toBe(0);
    expect(again.check.found).toBe(34);
  });

  it("touches nothing in a store but what it wrote", async () => {
    const store = await emptyDatabase();
    const first = await replayed({ files: [testFile([toolConversation("a", 1)])], store, run: "one" });
    const other = await replayed({ files: [testFile([toolConversation("a", 2)])], store, run: "two" });
    expect([first.ok, other.ok]).toEqual([true, true]);
    const same = await replayed({ files: [testFile([toolConversation("a", 1)])], store, run: "one" });
    expect(same.check.found).toBe(5);
  });

  it("reports a run of the same name that held other messages, and replays the others", async () => {
    const store = await emptyDatabase();
    await replayed({
      files: [testFile([{ id: "a", messages: [{ role: "user", content: "one" }] }])],
      store,
      run: "r",
    });
    const other = { id: "a", messages: [{ role: "user", content: "two" }] };
    const report = await replayed({ files: [testFile([other, toolConversation("b", 1)])], store, run: "r" });
    expect(report.ok).toBe(false);
    expect(report.check.faults).toEqual([{ id: "a", problem: "message-1 has other content" }]);
    expect(report.check.found).toBe(5);
  });

  it.each([
    [
      "a lost message",
      "delete from turnkeep_messages where id = 'message-2'",
      /message-3 where message-2 belongs/,
    ],
    [
      "a changed message",
      "update turnkeep_messages set payload = replace(payload, 'Question', 'Answer') where id = 'message-2'",
      /message-2 has other content/,
    ],
    [
      "a record that cannot be read",
      "update turnkeep_messages set payload = 'x' where id = 'message-2'",
      /message-2.*payload is not JSON/,
    ],
  ])("finds %s", async (_what, statement, problem) => {
    const options: ReplayOptions = {
      files: [testFile([toolConversation("a", 3)])],
      store: await emptyDatabase(),
      run: "r",
      maxTokens: 120,
    };
    expect((await replayed(options)).ok).toBe(true);
    expect(await changeStore(options.store ?? "", statement)).toBe(1);
    const report = await replayed(options);
    expect(report.ok).toBe(false);
    expect(report.check.faults).toEqual([{ id: "a", problem: expect.stringMatching(problem) }]);
    expect(report.text).toContain(
      "The store does not hold what the file says, but: the history of 1 conversation",
    );
  });

  it("finds that a store forgot what it held when it was opened again", async () => {
    const store = join(testFolder(), "store.mjs");
    const core = JSON.stringify(import.meta.resolve("@turnkeep/core"));
    writeFileSync(store, `import { inMemoryStore } from ${core};\nexport default () => inMemoryStore();\n`);
    const files = [testFile([toolConversation("a", 3), toolConversation("b", 3)])];
    const report = await replayed({ files, store });
    expect(report.ok).toBe(false);
    expect(report.forgotten).toBeGreaterThan(0);
    expect(report.text).toContain(`had forgotten ${report.forgotten} messages when it was opened again`);
    expect(report.check.faults).toEqual([]);
  });

  it.each([
    [{ maxTokens: 0 }, "max-tokens must be a positive whole number, not 0"],
    [{ maxMessages: 1.5 }, "max-messages must be a positive whole number, not 1.5"],
    [{ files: "a.jsonl" as never }, "files must be a list of paths, not a string"],
    [{ files: [5] as never }, "files must be a list of paths, and a path a text"],
    [{ maxToken: 600 } as never, 'it was given "maxToken"'],
    [{ write: "out.txt" as never }, "write must be a function, not a string"],
    [{ quiet: "no" as never }, "quiet must be a boolean, not a string"],
    [{ store: 5 as never }, "store must be a string, not a number"],
    [{ secondHalf: "nowhere" as never }, 'secondHalf must be process or here, not "nowhere"'],
    [{ unit: "page" as "turn" }, 'unit must be step, turn or message, not "page"'],
    [{ store: "" }, "store must name a folder"],
    [{ store: "mysql://user:secret@host/db" }, "not with mysql://"],
    [{ run: "a/b" }, 'not "a/b"'],
  ])("refuses %j", async (options, message) => {
    const error = await replay(options).catch((reason: unknown) => reason);
    expect(isTurnkeepError(error, "INVALID_OPTION")).toBe(true);
    expect(String(error)).toContain(message);
    expect(String(error)).not.toContain("secret");
  });

  it("refuses a file in place of a folder", async () => {
    const file = join(testFolder(), "conversations.jsonl");
    writeFileSync(file, "");
    await expect(replay({ store: file, secondHalf: "here" })).rejects.toThrow(
      expect.objectContaining({
        code: "INVALID_OPTION",
        message: expect.stringContaining("is a file and no folder"),
      }),
    );
  });

  it("refuses a folder that holds other files, and leaves them alone", async () => {
    const folder = testFolder();
    writeFileSync(join(folder, "thesis.txt"), "mine");
    await expect(replay({ store: folder, secondHalf: "here" })).rejects.toThrow(/holds other files/);
    expect(readdirSync(folder)).toEqual(["thesis.txt"]);
  });
});
