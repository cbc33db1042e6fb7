/**
 * Of `count` things, oldest first, how many lie before a border that leaves the newest `keep`. The border moves on by a
 * quarter of `keep` at once, so that what stands before it stays the same meanwhile: it leaves `keep` of them at least,
 * and fewer than a quarter more. It depends on the two numbers alone.
 */
export function beforeBorder(count: number, keep: number): number {
  const stride = Math.max(1, Math.ceil(keep / 4));
  return Math.floor(Math.max(0, count - keep) / stride) * stride;
}

/** What a cut may leave out, and how much of it there is room for. */
export interface CutOptions<Step extends { readonly tokens: number }> {
  /** Walked no further than there is room for. */
  readonly newestFirst: Iterable<Step>;
  /** Tokens of all steps. */
  readonly total: number;
  /** Whether the cut may stand before that step. */
  readonly mayBegin: (step: Step) => boolean;
  /** Tokens that there is room for, fewer than `total`. */
  readonly room: number;
  /** Tokens by which the cut moves on at once; 0: as little as fits. */
  readonly stride: number;
}

/**
 * The first step behind the cut, so that what is left fits; `undefined` if not even the newest does, from where the cut
 * may stand. Of the places where it may, the cut takes the last before each whole number of strides from the oldest
 * step, so that it moves once a stride while steps are added; any other only where a step is too long for that. It
 * depends on the steps alone.
 */
export function cutAt<Step extends { readonly tokens: number }>({
  newestFirst,
  total,
  mayBegin,
  room,
  stride,
}: CutOptions<Step>): Step | undefined {
  let oldest: Step | undefined;
  let oldestOnGrid: Step | undefined;
  let before = total;
  /** What lies before the next place where the cut may stand. */
  let next = total;
  for (const step of newestFirst) {
    before -= step.tokens;
    if (total - before > room) break;
    if (!mayBegin(step)) continue;
    oldest = step;
    if (stride > 0 && Math.ceil(before / stride) * stride < next) oldestOnGrid = step;
    next = before;
  }
  return oldestOnGrid ?? oldest;
}
