/** What logs and spans call an error: its code or its name. Its message may have data in it. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
