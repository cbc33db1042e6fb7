import { statSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "@turnkeep/servers";
import type { Browser, BrowserContext, Locator } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { root } from "../src/runner/workspace.mjs";
import { Application, launchBrowser, type Server } from "./application.ts";
import { Tab } from "./tab.ts";

const helpEnds = "a real model answers.";
const longAnswer = `${Array.from({ length: 120 }, (_, index) => `word ${index + 1},`).join(" ")} and that is the end.`;
const tooLong = "many words ".repeat(9_000);
const screens = join(root, "packages/create-turnkeep-chat/screens");

let application: Application;
let browser: Browser;
let server: Server;
/** Ann's browser: its tabs share a cookie. */
let ann: BrowserContext;

beforeAll(async () => {
  application = await Application.create();
  server = await application.start();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await server?.kill();
  application?.remove();
});
beforeEach(async () => {
  ann = await browser.newContext({ viewport: { width: 980, height: 500 } });
});
afterEach(() => ann.close());

/** Writes a picture for the README, where that is asked for. */
async function picture(tab: Tab, name: string): Promise<void> {
  if (!process.env.TURNKEEP_SCREENS) return;
  const path = join(screens, `${name}.png`);
  await tab.page.screenshot({ path });
  expect(statSync(path).size).toBeLessThanOrEqual(60 * 1024);
}

test("a first question is answered word by word, and its chat has a title", async () => {
  const tab = await Tab.open(ann, server.url);
  await tab.ask("Hello");
  await tab.shows("You said");
  expect((await tab.messages())[1]).not.toContain(helpEnds);
  await tab.shows(helpEnds);
  await tab.rests();
  await tab.page.locator(".sidebar a", { hasText: "Hello" }).waitFor();
  await tab.explains("of 16,000 tokens");
  expect(await tab.messages()).toEqual([
    "user: Hello",
    expect.stringMatching(/^assistant: You said: “Hello”\. .* a real model answers\.$/),
  ]);
});

test("the sidebar has the newest chat first, and a chat that is deleted is gone", async () => {
  const tab = await Tab.open(ann, server.url);
  for (const text of ["One", "Two"]) {
    await tab.button("New chat").click();
    await tab.ask(text);
    await tab.page.locator(".sidebar a", { hasText: text }).waitFor();
  }
  expect(await tab.titles()).toEqual(["Two", "One"]);
  await tab.page.locator(".sidebar a", { hasText: "One" }).click();
  await tab.shows("You said: “One”");
  await tab.ask("More");
  await tab.page.locator(".sidebar li:first-child", { hasText: "One" }).waitFor();
  expect(await tab.titles()).toEqual(["One", "Two"]);
  await tab.page.locator(".sidebar a", { hasText: "Two" }).click();
  await tab.shows("You said: “Two”");
  await tab.button("Delete Two").click();
  await tab.page.locator(".sidebar a", { hasText: "Two" }).waitFor({ state: "detached" });
  expect(await tab.messages()).toEqual([]);
  await tab.page.locator(".sidebar a", { hasText: "One" }).click();
  await tab.shows("You said: “One”");
});

test("two tabs see the same, while it is said", async () => {
  const tab = await Tab.open(ann, server.url);
  await tab.ask("Hello");
  await tab.rests();
  const other = await Tab.open(ann, tab.page.url());
  await other.shows(helpEnds);
  await tab.ask("A long answer, please");
  await other.shows("word 3,");
  await Promise.all([tab.shows("that is the end."), other.shows("that is the end.")]);
  await Promise.all([tab.rests(), other.rests()]);
  expect(await other.messages()).toEqual(await tab.messages());
  expect((await tab.messages())[3]).toBe(`assistant: ${longAnswer}`);
});

test("a page that is loaded anew in mid-answer shows it to its end", async () => {
  const tab = await Tab.open(ann, server.url);
  await tab.ask("A long answer, please");
  await tab.shows("word 5,");
  await tab.page.reload();
  await tab.shows("word 5,");
  expect((await tab.messages())[1]).not.toContain("the end");
  await tab.shows("that is the end.");
  await tab.rests();
  expect(await tab.messages()).toEqual(["user: A long answer, please", `assistant: ${longAnswer}`]);
});

test("an answer goes on while another chat is looked at", async () => {
  const tab = await Tab.open(ann, server.url);
  await tab.ask("A long answer, please");
  await tab.shows("word 5,");
  const [, id] = tab.page.url().split("#");
  await tab.button("New chat").click();
  await tab.ask("Hello");
  await tab.shows(helpEnds);
  await tab.page.locator(`.sidebar a[href="#${id}"]`).click();
  await tab.shows("that is the end.");
  await tab.rests();
  expect(await tab.messages()).toEqual(["user: A long answer, please", `assistant: ${longAnswer}`]);
});

test("an answer whose server was killed is shown as cut off, and the chat goes on", async () => {
  const tab = await Tab.open(ann, server.url);
  await tab.ask("A long answer, please");
  // By then a part of it is stored.
  await tab.shows("word 30,");
  const { port } = server;
  await server.kill();
  server = await application.start({ PORT: port });
  await tab.page.reload();
  await tab.shows("This answer was cut off.");
  await picture(tab, "cut-off");
  const [, answer] = await tab.messages();
  expect(answer).toMatch(/^assistant: word 1, word 2, .* \| This answer was cut off\.$/);
  expect(answer).not.toContain("the end");
  await tab.ask("Hello again");
  await tab.shows(helpEnds);
  await tab.rests();
  expect(await tab.messages()).toEqual([
    "user: A long answer, please",
    answer,
    "user: Hello again",
    expect.stringContaining("You said: “Hello again”"),
  ]);
});

test("a release lets an answer end that a page waits for, and keeps what there is of another", async () => {
  const tab = await Tab.open(ann, server.url);
  await tab.ask("A long answer, please");
  await tab.shows("word 30,");
  const { url, port } = server;
  let ended = server.stop();
  await tab.shows("that is the end.");
  expect(await ended).toBe(0);
  server = await application.start({ PORT: port });
  const other = await Tab.open(ann, url);
  await other.ask("A long answer, please");
  await other.shows("word 30,");
  const address = other.page.url();
  await other.page.close();
  ended = server.stop();
  expect(await ended).toBe(0);
  server = await application.start({ PORT: port });
  const again = await Tab.open(ann, address);
  await again.shows("This answer was cut off.");
  await tab.page.reload();
  await tab.shows("that is the end.");
});

test("stop ends the answer on the server", async () => {
  const tab = await Tab.open(ann, server.url);
  await tab.ask("A long answer, please");
  await tab.shows("word 5,");
  await tab.button("Stop").click();
  await tab.rests();
  await tab.page.reload();
  await tab.shows("Stopped.");
  const [, answer] = await tab.messages();
  expect(answer).toMatch(/^assistant: word 1, .* \| Stopped\.$/);
  expect(answer).not.toContain("the end");
});

test("an answer is made anew, an edited question is answered anew, and each version comes back", async () => {
  const tab = await Tab.open(ann, server.url);
  await tab.ask("Hello");
  await tab.shows(helpEnds);
  await tab.rests();
  const idOfAnswer = async (): Promise<string> => {
    const { text } = await tab.api(`/api/chat/${tab.page.url().split("#")[1]}`);
    return JSON.parse(text).messages[1].id;
  };
  const first = await idOfAnswer();
  await tab.button("Regenerate").click();
  await tab.button("Stop").waitFor();
  await tab.rests();
  expect(await idOfAnswer()).not.toBe(first);
  expect(await tab.messages()).toHaveLength(2);
  await tab.button("Edit").click();
  await tab.page.getByLabel("Edited message").fill("Good morning");
  await tab.button("Save").click();
  await tab.shows("You said: “Good morning”");
  await tab.rests();
  await tab.page.reload();
  await tab.shows("You said: “Good morning”");
  const beginnings = async (): Promise<string[]> =>
    (await tab.messages()).map((message) => message.slice(0, 30));
  const edited = ["user: Good morning", "assistant: You said: “Good mor"];
  expect(await beginnings()).toEqual(edited);
  const question = tab.page.locator("article.user");
  const answer = tab.page.locator("article.assistant");
  const versionOf = (of: Locator, which: "before" | "after") =>
    of.getByRole("button", { name: `Version ${which}` }).click();
  await question.getByText("2 of 2").waitFor();
  await versionOf(question, "before");
  await tab.shows("You said: “Hello”");
  await tab.explains("You said: “Hello”");
  await answer.getByText("2 of 2").waitFor();
  await versionOf(answer, "before");
  await answer.getByText("1 of 2").waitFor();
  expect(await idOfAnswer()).toBe(first);
  await versionOf(question, "after");
  await tab.shows("You said: “Good morning”");
  await tab.explains("You said: “Good morning”");
  expect(await beginnings()).toEqual(edited);
});

test("what is approved in two tabs at once is carried out once", async () => {
  const tab = await Tab.open(ann, server.url);
  await tab.ask("Book a train to Oslo, please");
  await tab.button("Approve").waitFor();
  const other = await Tab.open(ann, tab.page.url());
  await other.button("Approve").waitFor();
  expect(await tab.page.getByRole("alert").count()).toBe(0);
  await picture(tab, "approval");
  await Promise.all([tab.button("Approve").click(), other.button("Approve").click()]);
  for (const each of [tab, other]) {
    await each.page.locator(".text", { hasText: "Seat 7 to Oslo is booked." }).waitFor();
    await each.rests();
  }
  expect(server.printed.match(/Booked a seat to Oslo\./g)).toHaveLength(1);
  expect(await other.messages()).toEqual(await tab.messages());
});

test("what is denied is not carried out", async () => {
  const tab = await Tab.open(ann, server.url);
  await tab.ask("Book a train to Bergen, please");
  await tab.button("Deny").click();
  await tab.shows("Not booked, as you wish.");
  expect(server.printed).not.toContain("Bergen");
});

test("another user sees nothing of it", async () => {
  const tab = await Tab.open(ann, server.url);
  await tab.ask("Hello");
  await tab.shows(helpEnds);
  await tab.rests();
  const [, id] = tab.page.url().split("#");
  const ben = await browser.newContext();
  try {
    const others = await Tab.open(ben, tab.page.url());
    await others.shows("No such chat.");
    expect([await others.titles(), await others.messages()]).toEqual([[], []]);
    for (const [method, path, expected] of [
      ["GET", `/api/chat/${id}`, 404],
      ["GET", `/api/chat/${id}/stream`, 204],
      ["POST", `/api/chat/${id}/stop`, 404],
      ["DELETE", `/api/chat/${id}`, 404],
      ["GET", `/api/context/${id}`, 404],
    ] as const)
      expect((await others.api(path, method)).status, `${method} ${path}`).toBe(expected);
    await others.ask("Hello");
    await others.shows("No such chat.");
    expect(await others.page.evaluate("document.cookie")).toBe("");
    const { status } = await fetch(`${server.url}/api/chat/${id}`);
    expect(status).toBe(401);
  } finally {
    await ben.close();
  }
  await tab.page.reload();
  await tab.shows(helpEnds);
  expect(await tab.messages()).toHaveLength(2);
});

test("a question that does not fit says so, leaves nothing, and can be shortened", async () => {
  const tab = await Tab.open(ann, server.url);
  await tab.ask("Hello");
  await tab.shows(helpEnds);
  await tab.rests();
  await tab.ask(tooLong);
  await tab.shows("Context full.");
  await tab.shows("The message is too long by");
  await tab.holds(tooLong);
  expect(await tab.messages()).toHaveLength(2);
  await picture(tab, "context-full");
  await tab.ask("Shorter");
  await tab.shows("You said: “Shorter”");
  await tab.rests();
  expect(await tab.page.getByRole("alert").count()).toBe(0);
  expect(await tab.messages()).toHaveLength(4);
});

test("a first question that does not fit begins no chat", async () => {
  const tab = await Tab.open(ann, server.url);
  await tab.ask(tooLong);
  await tab.shows("Context full.");
  await tab.holds(tooLong);
  expect([await tab.messages(), await tab.titles()]).toEqual([[], []]);
  await tab.ask("Shorter");
  await tab.shows("You said: “Shorter”");
  await tab.rests();
  expect(await tab.page.getByRole("alert").count()).toBe(0);
});

test("a question to a server that is away is not lost", async () => {
  const tab = await Tab.open(ann, server.url);
  await tab.ask("Hello");
  await tab.shows(helpEnds);
  await tab.rests();
  const { port } = server;
  await server.kill();
  await tab.ask("Are you there?");
  await tab.page.getByRole("alert").waitFor();
  server = await application.start({ PORT: port });
  await tab.button("Load again").click();
  await tab.holds("Are you there?");
  expect(await tab.messages()).toHaveLength(2);
  expect(await tab.page.getByRole("alert").count()).toBe(0);
  await tab.composer.press("Enter");
  await tab.shows("You said: “Are you there?”");
});

test("the same over Postgres, by one line of .env", async () => {
  const postgres = await startPostgres();
  application.write(".env", `DATABASE_URL=${postgres.url}\nCONTEXT_TOKENS=12345\n`);
  let other = await application.start();
  try {
    const tab = await Tab.open(ann, other.url);
    await tab.ask("Hello");
    await tab.shows(helpEnds);
    await tab.rests();
    await tab.explains("of 12,345 tokens");
    await other.kill();
    other = await application.start({ PORT: other.port });
    await tab.page.reload();
    await tab.shows(helpEnds);
    expect(await tab.messages()).toHaveLength(2);
  } finally {
    application.write(".env", "");
    await other.kill();
    await postgres.stop();
  }
});

test("the same while it is developed", async () => {
  const development = await application.develop();
  try {
    const tab = await Tab.open(ann, development.url);
    await tab.ask("Hello");
    await tab.shows(helpEnds);
    await tab.rests();
  } finally {
    await development.kill();
  }
});
