/** Removes values from a list that contains all of them. Returns the indices where separated values now meet. */
export function takeOut<T>(list: T[], victims: ReadonlySet<T>): number[] {
  const seams: number[] = [];
  let kept = 0;
  let index = 0;
  for (let left = victims.size; left > 0; index++) {
    const value = list[index] as T;
    if (!victims.has(value)) {
      list[kept++] = value;
      continue;
    }
    left--;
    if (seams.at(-1) !== kept) seams.push(kept);
  }
  // Everything after the last of them moves up together.
  list.splice(kept, index - kept);
  return seams;
}
