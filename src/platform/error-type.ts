/**
 * The name of an error in logs and spans: its code or its class. Its message is not used, because it may contain
 * private data.
 */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
