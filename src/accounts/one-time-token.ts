import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 24;

/** The most characters that a link's token may have. Ours are shorter. */
export const MAX_TOKEN_LENGTH = 200;

export function makeOneTimeToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

export function hashOneTimeToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
