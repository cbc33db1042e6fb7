/** `1 message`, `1,200 messages`. */
export function some(count: number, noun: string, nouns = `${noun}s`): string {
  return `${number(count)} ${count === 1 ? noun : nouns}`;
}

export function number(value: number): string {
  return Math.round(value).toLocaleString("en");
}
