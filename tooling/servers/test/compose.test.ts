import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { images } from "../src/index.ts";

const text = readFileSync(join(import.meta.dirname, "../../../docker-compose.yml"), "utf8").replaceAll(
  /\s*#.*$/gm,
  "",
);
const [, body = ""] = /^services:\n((?: .*\n|\n)*)/m.exec(text) ?? [];
/** Each service's name with its own lines. */
const services = new Map(
  body
    .split(/^ {2}(?=\S)/m)
    .slice(1)
    .map((block) => [block.slice(0, block.indexOf(":")), block]),
);

it("docker-compose.yml has the four databases, of the images that tests use", () => {
  const found = [...services].map(([name, block]) => [name, /^ {4}image: "?([^"\s]+)"?$/m.exec(block)?.[1]]);
  expect(Object.fromEntries(found)).toEqual(images);
});

it.each([...services])(
  "docker-compose.yml: %s is reachable from this machine only, and says when it is healthy",
  (_name, block) => {
    const [, list = ""] = /^ {4}ports:((?:\s+- .+$|\s*\[.*\])+)/m.exec(block) ?? [];
    const ports = [...list.matchAll(/["']?([\d.:]+:\d+)["']?/g)].map((match) => match[1]);
    expect(ports.length).toBeGreaterThan(0);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    expect(block).toMatch(/^ {4}healthcheck:\n(?: {6}.*\n)* {6}test:/m);
    expect(block).not.toMatch(/network_mode/);
  },
);
