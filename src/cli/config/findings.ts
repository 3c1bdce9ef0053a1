/** The result of a check of one service: facts, warnings and errors as sentences. */
export type Findings = { facts: string[]; warnings: string[]; errors: string[] };

/** Findings of a service that cannot be used. */
export function failed(error: string): Findings {
  return { facts: [], warnings: [], errors: [error] };
}
