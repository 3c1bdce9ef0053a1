/** What a check of a service found: a sentence for each fact, warning and error. */
export type Findings = { facts: string[]; warnings: string[]; errors: string[] };

/** Findings of a service that cannot be used. */
export function failed(error: string): Findings {
  return { facts: [], warnings: [], errors: [error] };
}
