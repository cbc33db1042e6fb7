/**
 * How many of `count` things, oldest first, lie before a border that leaves the newest `keep`. The border moves by a
 * quarter of `keep` at a time, so that what stands before it stays the same in between: it leaves at least `keep`, and
 * fewer than a quarter more. It depends on the two numbers only.
 */
export function beforeBorder(count: number, keep: number): number {
  const stride = Math.max(1, Math.ceil(keep / 4));
  return Math.floor(Math.max(0, count - keep) / stride) * stride;
}

/** What a cut may leave out, and how much of it there is room for. */
export interface CutOptions<Step extends { readonly tokens: number }> {
  /** Read only as far as there is room. */
  readonly newestFirst: Iterable<Step>;
  /** Tokens of all steps. */
  readonly total: number;
  /** Whether the cut may stand before that step. */
  readonly mayBegin: (step: Step) => boolean;
  /** Tokens that there is room for, fewer than `total`. */
  readonly room: number;
  /** Tokens by which the cut moves at a time; 0: as little as needed. */
  readonly stride: number;
}

/**
 * The first step after the cut, so that what is left fits; `undefined` if not even the newest step at which a cut may
 * stand fits. Of the allowed places, the cut takes the last one before each multiple of the stride, counted from the
 * oldest step, so it moves once per stride while steps are added. It stands elsewhere only if a step is too long for
 * that. It depends on the steps only.
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
