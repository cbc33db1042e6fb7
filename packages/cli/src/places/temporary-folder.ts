import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of this process's own. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

/** A new folder that is gone when this process ends, however it ends short of being killed. */
export function temporaryFolder(purpose: "replay" | "inspect"): TemporaryFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), `turnkeep-${purpose}-`)));
  const remove = (): void => {
    removeAll(path);
    process.removeListener("exit", remove);
  };
  process.once("exit", remove);
  return { path, remove };
}

const maxAttempts = 10;

/** A copy that was under way when the process was stopped may still make a file or two behind those that are removed. */
function removeAll(path: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY" || attempt === maxAttempts) throw error;
    }
  }
}
