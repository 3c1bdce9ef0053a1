import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'tp_';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/** CRC-32 of the random part, in six base62 digits: leaked-secret scanners recognise a token offline by it. */
function checksum(random: string): string {
  let rest = crc32(random);
  let digits = '';
  while (digits.length < CHECKSUM_LENGTH) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** A new API token: `tp_`, 30 random base62 characters (178 bits) and a checksum of six. */
export function makeToken(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62[randomInt(62)]).join('');
  return PREFIX + random + checksum(random);
}

/** Whether `text` has the shape and the checksum of a token. Typing errors cause no database query. */
export function isTokenShaped(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const random = text.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH);
  return text.endsWith(checksum(random));
}

/** SHA-256 of a token in hex, the only stored form. 178 random bits need no salt. */
export function hashToken(token: string): string {
  return hash('sha256', token);
}

/** The first nine characters of a token, so that its owner recognises it in a list. */
export function tokenPrefix(token: string): string {
  return token.slice(0, PREFIX.length + 6);
}
