/** Where a server may come from, in the order in which they are tried. */
export const allSources = ["env", "docker", "machine", "cache"] as const;

export type Source = (typeof allSources)[number];

/** One place that was looked at, and why it gave no server. */
export interface Attempt {
  readonly source: Source;
  readonly reason: string;
}

/** No server could be started. The message and `attempts` name every place that was tried and why it failed. */
export class ServerUnavailable extends Error {
  override readonly name: string = "ServerUnavailable";
  readonly server: string;
  readonly attempts: readonly Attempt[];

  constructor(server: string, attempts: readonly Attempt[], advice: string) {
    const tried = attempts.map(({ source, reason }) => `\n  - ${source}: ${reason}`).join("");
    super(`no ${server} could be started; tried:${tried}\n${advice}`);
    this.server = server;
    this.attempts = attempts;
  }
}

/** A failure that ends the search: what was asked for by name must not be replaced by something else. */
export class FinalFailure extends Error {}

/** One way to get a server. It throws an error whose message says why there is none. */
export interface Candidate<T> {
  readonly source: Source;
  start(): Promise<T>;
}

/** Tries the candidates in order; `ServerUnavailable` if none of those that `allowed` names gives a server. */
export async function firstAvailable<T>(
  server: string,
  candidates: readonly Candidate<T>[],
  allowed: readonly Source[],
  advice: string,
): Promise<T> {
  const attempts: Attempt[] = [];
  for (const candidate of candidates) {
    if (!allowed.includes(candidate.source)) continue;
    try {
      return await candidate.start();
    } catch (error) {
      attempts.push({ source: candidate.source, reason: reasonOf(error) });
      if (error instanceof FinalFailure) break;
    }
  }
  throw new ServerUnavailable(server, attempts, advice);
}

/** The sources that an environment variable such as `TURNKEEP_POSTGRES_SOURCE` allows: one, or all when it is unset. */
export function sourcesFrom(variable: string, env: NodeJS.ProcessEnv): readonly Source[] {
  const value = env[variable];
  if (value === undefined || value === "") return allSources;
  const source = allSources.find((known) => known === value);
  if (source === undefined) {
    throw new Error(
      `${variable} is "${value}"; set it to one of ${allSources.join(", ")}, or leave it unset`,
    );
  }
  return [source];
}

/** The error's message; that of each of its parts where it has none of its own, as with several addresses of a host. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(reasonOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}

/** The `restart` of a server that is not a process of this machine, or not ours. */
export function cannotRestart(source: Source): Promise<never> {
  return Promise.reject(
    new Error(`a server from ${source} cannot be restarted: start one with sources ["machine", "cache"]`),
  );
}
