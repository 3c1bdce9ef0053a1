/** The code or class of an error, for logs and spans. The message may contain private data, so it is not used. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
