import { relative } from "node:path";
import { CreateError, createChat } from "./create-chat.ts";

const usage = `Usage: npm create turnkeep-chat FOLDER

Writes a chat into FOLDER, which must be new or empty: React, the AI SDK and Turnkeep over SQLite.
`;

/** What the chat itself needs: \`node:sqlite\`, and types that Node strips. */
const [major, minor] = [22, 18];

/** What the command has of its surroundings. */
export interface Surroundings {
  /** Such as 22.18.0. */
  readonly nodeVersion: string;
  readonly versions?: Readonly<Record<string, string>>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Runs the command; answers its exit status: 0 all is well, 1 it is not, 2 the command line is wrong. */
export function main(args: readonly string[], { nodeVersion, versions, out, err }: Surroundings): number {
  const [folder] = args;
  if (folder === "--help" || folder === "-h") {
    out(usage);
    return 0;
  }
  if (folder === undefined || folder.startsWith("-") || args.length > 1) {
    err(usage);
    return 2;
  }
  try {
    out(nextSteps(createChat(folder, versions), folder, nodeVersion));
    return 0;
  } catch (error) {
    if (!(error instanceof CreateError)) throw error;
    err(`${error.message}\n`);
    return 1;
  }
}

function nextSteps(name: string, folder: string, nodeVersion: string): string {
  const path = relative("", folder);
  const lines = [
    `Created ${name}. Next:`,
    "",
    ...(path === "" ? [] : [`  cd ${path}`]),
    "  npm install",
    "  npm run dev",
    "",
    "A mock model answers until AI_GATEWAY_API_KEY is set. README.md says what is where.",
  ];
  const [ownMajor = 0, ownMinor = 0] = nodeVersion.split(".").map(Number);
  if (ownMajor < major || (ownMajor === major && ownMinor < minor))
    lines.push(`The chat needs Node ${major}.${minor} or newer; this is ${nodeVersion}.`);
  return `${lines.join("\n")}\n`;
}
