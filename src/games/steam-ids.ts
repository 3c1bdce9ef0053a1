/**
 * SteamIDs of players. A SteamID has 64 bits: universe (8), type of account (4), instance (20), number (32).
 * https://developer.valvesoftware.com/wiki/SteamID
 */

/** Universe 1 (public), type 1 (individual), instance 1 (desktop), number 0. */
const INDIVIDUAL = 0x0110_0001_0000_0000n;
const NUMBERS = 2n ** 32n;

/** `id`: its 17 digits. `vanity`: a profile link with a name that the player chose. */
export type SteamId = { kind: 'id'; digits: string } | { kind: 'vanity' } | { kind: 'none' };

const NONE: SteamId = { kind: 'none' };
/** Some browsers copy a link without its scheme. */
const PROFILE = /^(?:https?:\/\/)?(?:www\.)?steamcommunity\.com\/(profiles|id)\/([^/?#\s]+)(?:[/?#]\S*)?$/i;

/** Reads a SteamID64 (17 digits), `STEAM_0:1:5`, `[U:1:11]`, or the link of a profile. */
export function steamIdOf(typed: string): SteamId {
  const text = typed.normalize('NFKC').trim();
  const [, path, last = ''] = PROFILE.exec(text) ?? [];
  if (path?.toLowerCase() === 'id') return { kind: 'vanity' };
  return idOf(path ? last : text);
}

function idOf(text: string): SteamId {
  if (/^\d{17}$/.test(text)) return isIndividual(BigInt(text)) ? { kind: 'id', digits: text } : NONE;
  const [, low, half] = /^STEAM_[01]:([01]):(\d{1,10})$/i.exec(text) ?? [];
  if (low && half) return ofNumber(2n * BigInt(half) + BigInt(low));
  const [, number] = /^\[U:1:(\d{1,10})\]$/i.exec(text) ?? [];
  return number ? ofNumber(BigInt(number)) : NONE;
}

function ofNumber(number: bigint): SteamId {
  return number > 0n && number < NUMBERS ? { kind: 'id', digits: String(INDIVIDUAL + number) } : NONE;
}

/** Whether an id is a person's: not a group, a game server or an anonymous user. */
function isIndividual(id: bigint): boolean {
  return id > INDIVIDUAL && id < INDIVIDUAL + NUMBERS;
}
