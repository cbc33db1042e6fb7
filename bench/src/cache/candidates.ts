import type { TokenCounter } from "@turnkeep/core";
import type { Dialogue } from "./dialogue.ts";
import type { Segment } from "./prompt.ts";
import type { Request, Trace } from "./trace.ts";

/** What a candidate sees when a message has come. */
export interface Arrival {
  readonly role: Segment["role"];
  /** What a view would take of the limit. */
  readonly tokens: number;
  readonly limit: number;
  /** How long nothing had come, in seconds. */
  readonly pause: number;
}

/**
 * A policy that might evict better: a function of what is live. The oldest steps leave until `downTo` tokens are reached;
 * `undefined`: nothing leaves.
 */
export interface Candidate {
  readonly name: string;
  readonly downTo: (arrival: Arrival) => number | undefined;
  /** Steps within this part of the limit, from the beginning, never leave. Default 0. */
  readonly head?: number;
}

/** What `target` does. */
export function byTarget(target: number): Candidate {
  return {
    name: `target ${target}`,
    downTo: ({ tokens, limit }) => (tokens > limit ? Math.floor(limit * target + 1e-9) : undefined),
  };
}

/** Makes room early at a user's message: when more than `share` of the limit is used. */
function atUser(target: number, share: number): Candidate {
  return {
    name: `target ${target}, at a user's message from ${share} on`,
    downTo: ({ role, tokens, limit }) =>
      tokens > limit || (role === "user" && tokens > share * limit)
        ? Math.floor(limit * target + 1e-9)
        : undefined,
  };
}

/** Makes room early after a pause: when more than `share` of the limit is used, down to `cold` of it. */
export function afterPause(minutes: number, share: number, cold: number, target: number): Candidate {
  return {
    name: `target ${target}, after ${minutes} min from ${share} on${cold === target ? "" : ` to ${cold}`}`,
    downTo: ({ tokens, limit, pause }) => {
      if (tokens > limit) return Math.floor(limit * target + 1e-9);
      return pause > minutes * 60 && tokens > share * limit ? Math.floor(limit * cold + 1e-9) : undefined;
    },
  };
}

export const candidates: readonly Candidate[] = [
  atUser(0.7, 0.85),
  atUser(0.7, 0.95),
  afterPause(5, 0.85, 0.7, 0.7),
  afterPause(60, 0.85, 0.7, 0.7),
  afterPause(5, 0.7, 0.7, 0.7),
  afterPause(60, 0.7, 0.7, 0.7),
  afterPause(5, 0.75, 0.6, 0.9),
  afterPause(60, 0.75, 0.6, 0.9),
  { ...byTarget(0.7), name: "target 0.7, the first 0.3 of the limit stays", head: 0.3 },
];

interface Step {
  readonly segments: Segment[];
  tokens: number;
}

/** Plays a conversation through a candidate, as `play` does through a memory. */
export function rehearse<M>(
  { segments, messages, times }: Dialogue<M>,
  { downTo, head = 0 }: Candidate,
  limit: number,
  counter: TokenCounter,
): Trace {
  const requests: Request[] = [];
  const front: Segment[] = [];
  const steps: Step[] = [];
  let tokens = counter.base ?? 0;
  let open = 0;
  let filled = false;
  for (const [index, message] of messages.entries()) {
    const segment = segments.of(message);
    const at = times[index - 1] ?? 0;
    if (index > 0 && segment.role === "assistant") {
      const prompt = [...front, ...steps.flatMap((step) => step.segments)];
      requests.push({ at, prompt, output: segment.tokens, filled });
    }
    tokens += segment.tokens;
    const newest = steps.at(-1);
    if (segment.role === "system") front.push(segment);
    else if (segment.role === "tool" && open > 0 && newest !== undefined) {
      newest.segments.push(segment);
      newest.tokens += segment.tokens;
      open--;
    } else {
      steps.push({ segments: [segment], tokens: segment.tokens });
      open = segment.blocks.filter((block) => block === "tool-call").length;
    }
    const pause = (times[index] as number) - at;
    const goal = downTo({ role: segment.role, tokens, limit, pause });
    if (goal === undefined) continue;
    let first = 0;
    for (let kept = 0; first < steps.length - 1; first++) {
      kept += (steps[first] as Step).tokens;
      if (kept > head * limit) break;
    }
    while (tokens > goal && first < steps.length - 1) {
      for (const step of steps.splice(first, 1)) tokens -= step.tokens;
      filled = true;
    }
  }
  return { requests, summaries: [] };
}
