import { parse, View } from "vega";
import { compile } from "vega-lite";

/** Lines of one figure against another. */
export interface Plot {
  /** Part of the file's name. */
  readonly name: string;
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly points: readonly { readonly x: number; readonly y: number; readonly line: string }[];
}

export interface Axis {
  readonly title: string;
  /** Default `linear`. */
  readonly scale?: "linear" | "log";
  /** Whether a linear axis begins at 0. Default true. */
  readonly zero?: boolean;
}

/** The plot as an SVG picture, the same for the same points. */
export async function svgOf({ title, x, y, points }: Plot): Promise<string> {
  const axis = (field: "x" | "y", { title, scale, zero = true }: Axis) => ({
    field,
    title,
    type: "quantitative" as const,
    scale: scale === "log" ? { type: scale } : { zero },
  });
  const { spec } = compile({
    title,
    width: 560,
    height: 320,
    background: "white",
    data: { values: [...points] },
    mark: { type: "line", point: true },
    encoding: {
      x: axis("x", x),
      y: axis("y", y),
      color: { field: "line", type: "nominal", title: null, sort: null },
    },
  });
  return new View(parse(spec), { renderer: "none" }).toSVG();
}
