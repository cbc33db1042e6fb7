import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface Job {
  readonly url: string;
  readonly work: "migrate" | "append" | "begin";
  /** How many messages each process appends, or how many memories it tries to begin. */
  readonly count?: number | undefined;
}

/** Runs a job in so many processes at once, each over the built store; answers what each said at its end. */
export function inProcesses(processes: number, job: Job): Promise<string[]> {
  return Promise.all(Array.from({ length: processes }, (_, index) => inProcess(job, index)));
}

function inProcess(job: Job, index: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const args = [job.url, job.work, String(job.count ?? 0), String(index)];
    const child = fork(fileURLToPath(new URL("worker.mjs", import.meta.url)), args, { execArgv: [] });
    let said = "ended without a word";
    child.on("message", (text) => {
      said = String(text);
    });
    child.once("error", reject);
    child.once("exit", () => resolve(said));
  });
}
