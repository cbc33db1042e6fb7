import { Session } from "node:inspector/promises";

/**
 * How many functions of this package's sources are called while `run` runs, by the engine's own count. Unlike questions
 * to a format it includes work on what is known already; loops that call nothing are not in it.
 */
export async function functionCalls(run: () => Promise<void>): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    await run();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    await session.post("Profiler.stopPreciseCoverage");
    return result
      .filter(({ url }) => url.includes("/core/src/"))
      .flatMap(({ functions }) => functions)
      .reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
  } finally {
    session.disconnect();
  }
}
