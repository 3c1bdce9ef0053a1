import { randomInt } from 'node:crypto';
import { APIError } from 'better-auth/api';

/** A code of an authenticator app. Anything else is a backup code, for users who lost their phone. */
export const APP_CODE = /^\d{6}$/;

/** The characters of backup codes. They leave out 0, O, 1 and I, which are easily confused. */
const BACKUP_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const BACKUP_CODES = 10;
const BACKUP_LENGTH = 12;

/** A code has the form `ABCD-EFGH-JKMN`. */
export function makeBackupCodes(): string[] {
  const letter = () => BACKUP_ALPHABET[randomInt(BACKUP_ALPHABET.length)];
  return Array.from({ length: BACKUP_CODES }, () =>
    inGroups(Array.from({ length: BACKUP_LENGTH }, letter).join(''), 4),
  );
}

/**
 * A typed code in the form in which it was issued: without spaces, a backup code in upper case with its dashes. Older
 * backup codes have ten characters in mixed case: `aB3dE-5fGhI`.
 */
export function asGivenOut(typed: string): string {
  const code = typed.replace(/[\s\p{Pd}]/gu, '');
  if (code.length === BACKUP_LENGTH) return inGroups(code.toUpperCase(), 4);
  return code.length === 10 ? inGroups(code, 5) : code;
}

function inGroups(code: string, size: number): string {
  return code.match(new RegExp(`.{1,${size}}`, 'g'))?.join('-') ?? code;
}

/** A code is valid for 90 seconds but works once, so that an onlooker cannot reuse it. */
export function codeUsedError(): APIError {
  return new APIError('UNAUTHORIZED', { code: 'CODE_USED', message: 'This code was used before.' });
}
