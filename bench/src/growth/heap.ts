import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What lives in this process's heap, in bytes, once all that nobody holds is gone. */
export async function liveHeap(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  // Weak references and finalizers let go only between turns.
  for (let pass = 0; pass < 4; pass++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}
