import { randomInt } from 'node:crypto';
import { APIError } from 'better-auth/api';

/** A code of an authenticator app; anything else is a backup code, kept for the day the phone is lost. */
export const APP_CODE = /^\d{6}$/;

/** Without 0, O, 1 and I, which look alike. */
const BACKUP_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const BACKUP_CODES = 10;
const BACKUP_LENGTH = 12;

/** New backup codes: `ABCD-EFGH-JKMN`. */
export function makeBackupCodes(): string[] {
  const letter = () => BACKUP_ALPHABET[randomInt(BACKUP_ALPHABET.length)];
  return Array.from({ length: BACKUP_CODES }, () =>
    inGroups(Array.from({ length: BACKUP_LENGTH }, letter).join(''), 4),
  );
}

/**
 * A code as it was given out, however its dashes, blanks and case were typed. Backup codes of before have ten characters
 * and two cases: `aB3dE-5fGhI`.
 */
export function asGivenOut(typed: string): string {
  const code = typed.replace(/[\s\p{Pd}]/gu, '');
  if (code.length === BACKUP_LENGTH) return inGroups(code.toUpperCase(), 4);
  return code.length === 10 ? inGroups(code, 5) : code;
}

function inGroups(code: string, size: number): string {
  return code.match(new RegExp(`.{1,${size}}`, 'g'))?.join('-') ?? code;
}

/** A code works for a minute or so: whoever looked over a shoulder must not use it again. */
export function codeUsedError(): APIError {
  return new APIError('UNAUTHORIZED', { code: 'CODE_USED', message: 'This code was used before.' });
}
