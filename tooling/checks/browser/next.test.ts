import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packed } from "../published/in-project.ts";
import { UserProject } from "../src/published/project.mjs";
import { root } from "../src/runner/workspace.mjs";
import { launchBrowser, Server, surroundings } from "./application.ts";

const example = join(root, "examples/chat-route/src");
const api = "app/api/chat/[[...path]]";
const next = join("node_modules", "next", "dist", "bin", "next");
const ours = ["@turnkeep/ai-sdk", "@turnkeep/core", "@turnkeep/formats"].map(
  (name) => packed.get(name) ?? name,
);
const others = ["@ai-sdk/react@4", "ai@7", "next@16", "react@19", "react-dom@19", "zod@4"];
const types = ["@types/node@24", "@types/react@19", "typescript@5.9"];

const files = {
  "app/layout.tsx": `import type { ReactNode } from "react";

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  );
}
`,
  "app/page.tsx": `"use client";
import { useChat } from "@ai-sdk/react";
import { chatTransport } from "@turnkeep/ai-sdk/client";
import { lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from "ai";
import { useEffect, useState } from "react";

const id = "trip";
const transport = chatTransport({ headers: { user: "ann" } });

export default function Page() {
  const [loaded, setLoaded] = useState<UIMessage[]>();
  useEffect(() => {
    transport.history(id).then(
      ({ messages }) => setLoaded(messages),
      () => setLoaded([]), // not begun yet
    );
  }, []);
  return loaded && <Chat loaded={loaded} />;
}

function Chat({ loaded }: { loaded: UIMessage[] }) {
  const { messages, sendMessage, addToolApprovalResponse, error } = useChat({
    id,
    messages: loaded,
    transport,
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const [question, setQuestion] = useState("");
  return (
    <main>
      {messages.flatMap((message) =>
        message.parts.map((part, index) => {
          const key = \`\${message.id} \${index}\`;
          if (part.type === "text") return <p key={key}>{\`\${message.role}: \${part.text}\`}</p>;
          if (part.type !== "tool-book" || part.state !== "approval-requested") return null;
          const approve = () => addToolApprovalResponse({ id: part.approval.id, approved: true });
          return (
            <button key={key} type="button" onClick={approve}>
              Approve
            </button>
          );
        }),
      )}
      {error && <p role="alert">{error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          sendMessage({ text: question });
        }}
      >
        <input aria-label="Message" value={question} onChange={({ target }) => setQuestion(target.value)} />
      </form>
    </main>
  );
}
`,
};

let project: UserProject;
let server: Server;
let browser: Browser;

/** An application as `create-next-app` leaves one, with the route of the example. */
beforeAll(async () => {
  project = UserProject.create();
  const write = (name: string): string => {
    const file = join(project.folder, name);
    mkdirSync(dirname(file), { recursive: true });
    return file;
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(write(name), text);
  copyFileSync(join(example, "next-route.ts"), write(`${api}/route.ts`));
  for (const name of ["chat.ts", "mock-model.ts"]) copyFileSync(join(example, name), write(`${api}/${name}`));
  writeFileSync(
    write("tsconfig.json"),
    JSON.stringify({ compilerOptions: { strict: true, allowImportingTsExtensions: true, noEmit: true } }),
  );
  await project.install([...ours, ...others, ...types]);
  await project.command(process.execPath, [next, "build"], surroundings);
  server = await Server.start(project.folder, [next, "start", "--port", "0"], {});
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await server?.kill();
  project?.remove();
});

test("a chat in a Next.js application: asked, approved, and there after a reload", async () => {
  const page = await browser.newPage();
  await page.goto(server.url);
  const ask = async (text: string): Promise<void> => {
    await page.getByLabel("Message").fill(text);
    await page.getByLabel("Message").press("Enter");
  };
  await ask("Hello");
  await page.getByText("assistant: Where do you want to go?").waitFor();
  await ask("Book a train to Bergen");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Seat 7 to Bergen is booked.").waitFor();
  const said = await page.locator("p").allTextContents();
  expect(said).toEqual([
    "user: Hello",
    "assistant: Where do you want to go? (answer 1)",
    "user: Book a train to Bergen",
    "assistant: Seat 7 to Bergen is booked. (answer 3)",
  ]);
  await page.reload();
  await page.getByText("Seat 7 to Bergen is booked.").waitFor();
  expect(await page.locator("p").allTextContents()).toEqual(said);
  // Next has one of its own, outside.
  expect(await page.locator("main [role=alert]").count()).toBe(0);
});
