import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { TOKEN_KINDS, type TokenKind } from './api-token.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The prefixes differ, so that no kind of token is mistaken for another. */
const PREFIXES = { api: 'tp_', claim: 'tpc_', deliver: 'tpd_' } as const satisfies Record<TokenKind, string>;
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^(tp[cd]?_)([0-9A-Za-z]{${RANDOM_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`);

/** The CRC-32 of the random part, in base62. With it, scanners for leaked secrets recognise a token. */
function checksum(random: string): string {
  let rest = crc32(random);
  let digits = '';
  while (digits.length < CHECKSUM_LENGTH) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** 30 random base62 characters are 178 bits. */
export function makeApiToken(kind: TokenKind = 'api'): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => BASE62[randomInt(62)]).join('');
  return PREFIXES[kind] + random + checksum(random);
}

/** By form and checksum; null for other text. So a typing error causes no database query. */
export function kindOfText(text: string): TokenKind | null {
  const [, prefix, random = '', check] = SHAPE.exec(text) ?? [];
  if (!prefix || check !== checksum(random)) return null;
  return TOKEN_KINDS.find((kind) => PREFIXES[kind] === prefix) ?? null;
}

/** Only this hash is stored. It needs no salt, because a token has 178 random bits. */
export function hashToken(token: string): string {
  return hash('sha256', token);
}

/** By these characters its owner recognises a token in a list. */
export function tokenPrefix(token: string): string {
  return token.slice(0, token.indexOf('_') + 7);
}
