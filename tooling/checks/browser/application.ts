import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import chromium from "@sparticuz/chromium";
import { newerNode } from "@turnkeep/servers";
import { type Browser, chromium as playwright } from "playwright-core";
import { packed } from "../published/in-project.ts";
import { UserProject } from "../src/published/project.mjs";

const node = newerNode();
/** npm runs what stands first on the path, and a chat wants a newer Node than the repository. Not as under Vitest. */
export const surroundings = {
  PATH: `${dirname(node)}:${process.env.PATH}`,
  NODE_ENV: undefined,
  NODE_OPTIONS: undefined,
};

/** A chat as a user has it: created by the packed command, installed from tarballs, built. */
export class Application {
  readonly #creator: UserProject;
  readonly #project: UserProject;

  private constructor(creator: UserProject, project: UserProject) {
    this.#creator = creator;
    this.#project = project;
  }

  static async create(): Promise<Application> {
    const creator = UserProject.create();
    await creator.install([packed.get("create-turnkeep-chat") as string]);
    await creator.command("npx", ["--no", "create-turnkeep-chat", "my-chat"]);
    const project = new UserProject(join(creator.folder, "my-chat"));
    project.useTarballs(packed);
    await project.install([]);
    await project.command("npm", ["run", "build"], surroundings);
    return new Application(creator, project);
  }

  /** A file that its user writes. */
  write(name: string, text: string): void {
    writeFileSync(join(this.#project.folder, name), text);
  }

  /** What `npm start` starts. */
  start(env: NodeJS.ProcessEnv = {}): Promise<Server> {
    return Server.start(this.#project.folder, ["server/main.ts"], env);
  }

  /** What `npm run dev` starts. */
  develop(): Promise<Server> {
    const vite = join("node_modules", "vite", "bin", "vite.js");
    return Server.start(this.#project.folder, [vite, "--port", "0"], {});
  }

  remove(): void {
    this.#creator.remove();
  }
}

/** Chromium, from the package registry or where it is. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env.TURNKEEP_CHROMIUM ?? (await chromium.executablePath());
  // In one process, as its package would have it, a browser ends with its first context.
  const args = chromium.args.filter((flag) => flag !== "--single-process");
  return playwright.launch({ executablePath, args });
}

/** A process that serves a chat. */
export class Server {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #printed: string[];

  private constructor(child: ChildProcess, url: string, printed: string[]) {
    this.#child = child;
    this.url = url;
    this.#printed = printed;
  }

  static async start(folder: string, args: readonly string[], more: NodeJS.ProcessEnv): Promise<Server> {
    const { AI_GATEWAY_API_KEY: _, DATABASE_URL: __, ...inherited } = process.env;
    const env = { ...inherited, ...surroundings, NO_COLOR: "1", PORT: "0", MOCK_WORD_MS: "50", ...more };
    const child = spawn(node, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    const printed: string[] = [];
    const url = await new Promise<string>((resolve, reject) => {
      const onText = (text: string): void => {
        printed.push(text);
        const [found] = /http:\/\/localhost:\d+/.exec(printed.join("")) ?? [];
        if (found !== undefined) resolve(found);
      };
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", onText);
      child.once("exit", () => reject(new Error(`The chat's server has ended:\n${printed.join("")}`)));
    });
    return new Server(child, url, printed);
  }

  get port(): string {
    return new URL(this.url).port;
  }

  /** All that it has printed so far. */
  get printed(): string {
    return this.#printed.join("");
  }

  /** As the machine's power does. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** As a deployment does; answers the exit status. */
  stop(): Promise<number | null> {
    return this.#end("SIGTERM");
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, "exit");
      this.#child.kill(signal);
      await ended;
    }
    return this.#child.exitCode;
  }
}
