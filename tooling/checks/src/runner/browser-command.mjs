import { join } from "node:path";
import { buildStep } from "./build-step.mjs";
import { closingLine, none } from "./counts.mjs";
import { installStep } from "./install-step.mjs";
import { runSteps } from "./steps.mjs";
import { runVitest } from "./test-step.mjs";
import { root } from "./workspace.mjs";

/**
 * `npm run test:browser`: the chat of `create-turnkeep-chat`, and one in Next.js, from tarballs and used in a browser. Answers the exit
 * status; the line that it prints last counts the tests.
 *
 * @param {(text: string) => void} print
 */
export async function browserCommand(print) {
  let counts = none;
  /** @type {NodeJS.ProcessEnv} */
  const env = {};
  const failed = await runSteps(
    [
      installStep(env),
      buildStep(env, "./packages/*"),
      {
        name: "chats in a browser",
        needs: ["install", "build"],
        run: () =>
          runVitest(join(root, "tooling/checks"), {
            env,
            config: "vitest.browser.config.ts",
            onCounts: (counted) => {
              counts = counted;
            },
          }),
      },
    ],
    print,
  );
  print(`${closingLine(counts)}\n`);
  return failed.length === 0 ? 0 : 1;
}
