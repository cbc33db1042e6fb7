/** A JSON Schema, as it goes to the model. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * What Standard Schema (standardschema.dev, version 1) asks of a schema library; Zod, Valibot, ArkType and others have it.
 * Declared here so that no package is needed for it.
 */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Standard JSON Schema: where a library has it, the tool needs no `jsonSchema` of its own. */
    readonly jsonSchema?:
      | { readonly input: (options: { readonly target: string }) => Record<string, unknown> }
      | undefined;
  };
}

/** The validated value, or what is wrong with it. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a schema makes of valid input. */
export type OutputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

export function isStandardSchema(schema: unknown): schema is StandardSchema {
  // A schema may be a function, as ArkType's are.
  const known = (typeof schema === "object" && schema !== null) || typeof schema === "function";
  return known && typeof (schema as Partial<StandardSchema>)["~standard"]?.validate === "function";
}

/** The issues as one line for the model: where, and what is wrong. */
export function issuesText(issues: readonly StandardIssue[]): string {
  return issues
    .map(({ path, message }) => {
      const place = (path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join(".");
      return place === "" ? message : `${place}: ${message}`;
    })
    .join("; ");
}
