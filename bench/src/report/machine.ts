import { arch, cpus, totalmem, type } from "node:os";

/** Where figures were measured: ratios hold elsewhere too, times do not. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
}

export function majorOf(node: string): number {
  return Number.parseInt(node.slice(1), 10);
}

export function thisMachine(): Machine {
  const [first] = cpus();
  return {
    cpu: first?.model ?? "unknown",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${arch()}`,
    node: process.version,
  };
}
