import { main } from "../src/main.ts";
import type { Ended } from "./process.ts";

/** Runs the command in this process, which is sooner than to start one, and has no second process. */
export async function inProcess(args: readonly string[], columns?: number): Promise<Ended> {
  let [out, err] = ["", ""];
  const status = await main(args, {
    env: { NO_COLOR: "1" },
    isTerminal: false,
    columns,
    program: "",
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { status, out, err };
}
