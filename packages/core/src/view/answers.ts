import type { MessageFormat, ToolResultRef } from "../message-format.ts";
import type { Item } from "../steps/item.ts";
import type { Step } from "../steps/step.ts";
import { append } from "../values.ts";
import type { CallGroup } from "./call-groups.ts";
import type { PairedResults } from "./paired-results.ts";
import { withOnlyEach } from "./with-only.ts";

/** What a message shows behind a group of calls: these of its results, or its approvals alone. */
interface Answer<M> {
  readonly item: Item<M>;
  readonly results: ReadonlySet<ToolResultRef>;
  /** `undefined` if nothing of it is left to show. */
  readonly message: M | undefined;
}

/**
 * What stands behind each group of a step's calls: the results that answer them, and the responses to its requests. Each is
 * looked at a few times, however many groups there are and whatever ids they share.
 */
export class Answers<M> {
  /** By the group's place, then by the message's, which of its results are shown. */
  readonly #shown: Map<number, Set<ToolResultRef>>[];
  readonly #all: Set<ToolResultRef> = new Set();
  readonly #items: readonly Item<M>[];
  /** By message, by the group's place. */
  readonly #messages: Map<number, Map<number, M | undefined>> = new Map();

  /** `items`: the messages of the step that make no calls. */
  constructor(
    items: readonly Item<M>[],
    step: Step<M>,
    groups: readonly CallGroup<M>[],
    paired: PairedResults,
    format: MessageFormat<M>,
  ) {
    this.#items = items;
    this.#shown = groups.map(() => new Map());
    this.#giveResults(groups, paired);
    this.#giveResponses(step, groups);
    this.#cut(format);
  }

  /** In the order of the messages. */
  of(place: number): Answer<M>[] {
    const shown = [...(this.#shown[place] as Map<number, Set<ToolResultRef>>)];
    return shown
      .sort(([a], [b]) => a - b)
      .map(([at, results]) => {
        const message = this.#messages.get(at)?.get(place);
        return { item: this.#items[at] as Item<M>, results, message };
      });
  }

  /** Whether all results of a message are shown. */
  showsAll({ results }: Item<M>): boolean {
    return results.every((result) => this.#all.has(result));
  }

  #giveResults(groups: readonly CallGroup<M>[], paired: PairedResults): void {
    const placeOf = new Map(
      groups.flatMap(({ calls }, place) => calls.map((call) => [call, place] as const)),
    );
    for (const [at, { results }] of this.#items.entries()) {
      for (const result of results) {
        const call = paired.get(result);
        const place = call && placeOf.get(call);
        if (place === undefined) continue;
        this.#give(place, at).add(result);
        this.#all.add(result);
      }
    }
  }

  #giveResponses({ approvals: requests }: Step<M>, groups: readonly CallGroup<M>[]): void {
    if (requests.size === 0) return;
    const placeOf = requestPlaces(groups);
    for (const [at, { approvals, meta }] of this.#items.entries()) {
      const late = new Set(meta.late);
      for (const { kind, approvalId } of approvals) {
        const callId = kind === "response" ? requests.get(approvalId) : undefined;
        if (callId === undefined || late.has(callId)) continue;
        const place = placeOf(approvalId, callId);
        if (place !== undefined) this.#give(place, at);
      }
    }
  }

  #give(place: number, at: number): Set<ToolResultRef> {
    const shown = this.#shown[place] as Map<number, Set<ToolResultRef>>;
    const results = shown.get(at) ?? new Set();
    shown.set(at, results);
    return results;
  }

  #cut(format: MessageFormat<M>): void {
    const places = new Map<number, number[]>();
    for (const [place, shown] of this.#shown.entries())
      for (const at of shown.keys()) append(places, at, place);
    for (const [at, all] of places) {
      const results = all.map((place) => this.#give(place, at));
      const messages = withOnlyEach(this.#items[at] as Item<M>, results, format);
      this.#messages.set(at, new Map(all.map((place, index) => [place, messages[index]])));
    }
  }
}

/** The place of the group that shows a request, or makes the call that it is about. */
function requestPlaces<M>(
  groups: readonly CallGroup<M>[],
): (approvalId: string, callId: string) => number | undefined {
  const byRequest = new Map<string, number>();
  const byCall = new Map<string, number>();
  for (const [place, { shownItems, calls }] of groups.entries()) {
    for (const { approvals } of shownItems)
      for (const { kind, approvalId } of approvals) if (kind === "request") byRequest.set(approvalId, place);
    for (const { id } of calls) if (!byCall.has(id)) byCall.set(id, place);
  }
  return (approvalId, callId) => byRequest.get(approvalId) ?? byCall.get(callId);
}
