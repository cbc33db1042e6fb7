import type { BrowserContext, Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** Bounds a hang, and says nothing of speed. */
const longestMs = 120_000;

/** The chat in one tab of a browser, used as a person does. */
export class Tab {
  readonly page: Page;

  private constructor(page: Page) {
    this.page = page;
  }

  static async open(context: BrowserContext, url: string): Promise<Tab> {
    const page = await context.newPage();
    page.setDefaultTimeout(longestMs);
    await page.goto(url);
    const tab = new Tab(page);
    await tab.composer.waitFor();
    return tab;
  }

  get composer(): Locator {
    return this.page.getByLabel("Message", { exact: true });
  }

  button(name: string): Locator {
    return this.page.getByRole("button", { name, exact: true });
  }

  async ask(text: string): Promise<void> {
    await this.composer.fill(text);
    await this.composer.press("Enter");
  }

  /** Waits until the chat shows this text. */
  async shows(text: string): Promise<void> {
    await this.page.locator("main").getByText(text).first().waitFor();
  }

  /** Waits until the panel beside it does. */
  async explains(text: string): Promise<void> {
    await this.page.locator(".context").getByText(text).first().waitFor();
  }

  /** Waits until the box for a message holds this text. */
  async holds(text: string): Promise<void> {
    await expect.poll(() => this.composer.inputValue(), { timeout: longestMs }).toBe(text);
  }

  /** Waits until no answer is being made. */
  async rests(): Promise<void> {
    await this.button("Send").waitFor();
  }

  /** Each message as `role: text`, without its buttons. */
  async messages(): Promise<string[]> {
    return this.page.locator("article").evaluateAll((articles) =>
      articles.map((article) => {
        const texts = [...article.querySelectorAll(".text, .note")].map(({ textContent }) =>
          textContent?.trim(),
        );
        return `${article.className}: ${texts.join(" | ")}`;
      }),
    );
  }

  /** The titles in the sidebar. */
  async titles(): Promise<string[]> {
    return this.page.locator(".sidebar a").allTextContents();
  }

  /** What the server answers to this page. */
  async api(path: string, method = "GET"): Promise<{ status: number; text: string }> {
    return this.page.evaluate(
      async ([path, method]) => {
        const headers = { "content-type": "application/json" };
        const response = await fetch(path, { method, headers });
        return { status: response.status, text: await response.text() };
      },
      [path, method] as const,
    );
  }
}
