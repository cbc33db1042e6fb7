/** What grows with the square of what it is given, to see that the meter notices. */

const upTo = (n: number): number[] => Array.from({ length: n }, (_, at) => at);

export const planted: Readonly<Record<string, (n: number) => unknown>> = {
  "shift of a long list": (n) => {
    const queue = upTo(n);
    while (queue.length > 0) queue.shift();
  },
  "splice at its beginning": (n) => {
    const list: number[] = [];
    for (const value of upTo(n)) list.splice(0, 0, value);
  },
  "a look-up by indexOf": (n) => {
    const list = upTo(n);
    return list.map((value) => list.indexOf(value));
  },
  "a look-up by find": (n) => {
    const list = upTo(n);
    return list.map((value) => list.find((other) => other === value));
  },
  "a spread in a loop": (n) => {
    let all: number[] = [];
    for (const value of upTo(n)) all = [...all, value];
    return all;
  },
  "a loop in a loop": (n) => {
    let sum = 0;
    for (let one = 0; one < n; one++) {
      for (let other = 0; other < n; other++) sum += other;
    }
    return sum;
  },
  "a text searched again and again": (n) => {
    const text = "a".repeat(n);
    return upTo(n).map(() => text.includes("b"));
  },
  "JSON of a list at each of its values": (n) => {
    const list = upTo(n);
    return list.map(() => JSON.stringify(list));
  },
  "an expression that begins anew at each place": (n) => {
    const text = "a".repeat(n);
    return upTo(n).map(() => /b/.exec(text));
  },
};
