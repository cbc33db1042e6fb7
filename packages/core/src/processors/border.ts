/**
 * Of `count` things, oldest first, how many lie before a border that leaves the newest `keep`. The border moves on by a
 * quarter of `keep` at once, so that what stands before it stays the same meanwhile: it leaves `keep` of them at least,
 * and fewer than a quarter more. It depends on the two numbers alone.
 */
export function beforeBorder(count: number, keep: number): number {
  const stride = Math.max(1, Math.ceil(keep / 4));
  return Math.floor(Math.max(0, count - keep) / stride) * stride;
}

/** What a cut may leave out, oldest first: the places where it may stand, and what lies before each. */
export interface CutOptions {
  /** Tokens of each step. */
  readonly costs: readonly number[];
  /** Whether the cut may stand before that step. */
  readonly mayBegin: (index: number) => boolean;
  /** Tokens that there is room for. */
  readonly room: number;
  /** Tokens by which the cut moves on at once; 0: as little as fits. */
  readonly stride: number;
}

/**
 * How many of the oldest steps are left out so that the rest fits; `undefined` if not even the newest does, from where
 * the cut may stand. Of the places where it may, the cut takes the last before each whole number of strides, so that it
 * moves once a stride while steps are added; any other only where a step is too long for that. It depends on the steps
 * alone.
 */
export function cutBefore({ costs, mayBegin, room, stride }: CutOptions): number | undefined {
  let total = 0;
  const places: { readonly index: number; readonly before: number }[] = [];
  for (const [index, cost] of costs.entries()) {
    if (mayBegin(index)) places.push({ index, before: total });
    total += cost;
  }
  const excess = total - room;
  if (excess <= 0) return 0;
  const enough = places.filter(({ before }) => before >= excess);
  const onGrid = enough.find(({ before }, at) => {
    const next = enough[at + 1]?.before ?? total;
    return stride > 0 && Math.ceil(before / stride) * stride < next;
  });
  return (onGrid ?? enough[0])?.index;
}
