import { guardedFetch } from '../../accounts/other-sites/guarded-fetch.ts';
import { steamIdOf } from '../../games/steam-ids.ts';
import { MINUTE, SECOND } from '../../platform/clock.ts';

/** OpenID Authentication 2.0: sections are of that specification (docs/adr/0126-steam-players.md). */
const NAMESPACE = 'http://specs.openid.net/auth/2.0';
/** The player chooses the identity at the provider (section 9.1). */
const SELECT = `${NAMESPACE}/identifier_select`;

/** The provider must have signed them (section 10.1). */
const SIGNED = ['op_endpoint', 'claimed_id', 'identity', 'return_to', 'response_nonce', 'assoc_handle'];

/** An answer may be this old, and the provider's clock may be this far ahead. */
const ANSWER_VALID_MS = 5 * MINUTE;
const HEADERS = { accept: '*/*', 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'node' };
const CHECK_TIMEOUT_MS = 10 * SECOND;
/** Of all fields together, in characters. Steam sends about 900. */
const LONGEST_ANSWER = 4_000;

/** `forged`: not signed, or confirmed before. `unavailable`: asking the provider failed. */
export type AnswerError =
  | 'cancelled'
  | 'malformed'
  | 'another-address'
  | 'expired'
  | 'forged'
  | 'unavailable';

/** `reason`: for the log, without text that the provider sent. */
export type RefusedAnswer = { error: AnswerError; reason: string };

/** Whether the provider signed the fields is not known yet. */
export type ReadAnswer = { steamId: string; fields: URLSearchParams };

/** The address of the provider's sign-in (section 9.1). */
export function signInAddress(provider: string, { realm, returnTo }: { realm: string; returnTo: string }) {
  const url = new URL(provider);
  const fields = {
    ns: NAMESPACE,
    mode: 'checkid_setup',
    claimed_id: SELECT,
    identity: SELECT,
    realm,
    return_to: returnTo,
  };
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(`openid.${name}`, value);
  return url.href;
}

/**
 * Checks what the provider sent back (section 11.1 to 11.3, without the signature). Only identities of this provider
 * are valid, so the discovery of section 11.2 is not needed.
 */
export function readOpenIdAnswer(
  provider: string,
  query: URLSearchParams,
  { returnTo, now }: { returnTo: string; now: Date },
): ReadAnswer | RefusedAnswer {
  const fields = new URLSearchParams([...query].filter(([name]) => name.startsWith('openid.')));
  const refuse = (error: AnswerError, reason: string) => ({ error, reason });
  if (fields.toString().length > LONGEST_ANSWER) return refuse('malformed', 'the answer is too long');
  if (new Set(fields.keys()).size !== [...fields.keys()].length)
    return refuse('malformed', 'a field occurs twice');
  const field = (name: string) => fields.get(`openid.${name}`) ?? '';
  if (field('mode') === 'cancel') return refuse('cancelled', 'the player cancelled');
  if (field('mode') !== 'id_res') return refuse('malformed', 'openid.mode is not id_res');
  if (field('ns') !== NAMESPACE) return refuse('malformed', 'it is not an answer of OpenID 2.0');
  if (field('op_endpoint') !== provider) return refuse('malformed', 'openid.op_endpoint is not the provider');
  if (field('return_to') !== returnTo)
    return refuse('another-address', 'openid.return_to is another address');
  const signed = field('signed').split(',');
  const unsigned = SIGNED.filter((name) => !signed.includes(name) || field(name) === '');
  if (unsigned.length > 0) return refuse('malformed', `not signed: ${unsigned.join(', ')}`);
  const steamId = steamIdIn(provider, field('claimed_id'));
  if (!steamId || field('identity') !== field('claimed_id'))
    return refuse('malformed', 'openid.claimed_id is no SteamID of the provider');
  const at = timeOf(field('response_nonce'));
  if (!(Math.abs(now.getTime() - at) <= ANSWER_VALID_MS))
    return refuse('expired', 'openid.response_nonce is too old, too new or has no time');
  return { steamId, fields };
}

/** Of `https://steamcommunity.com/openid/id/<17 digits>`, or the same with `http`. */
function steamIdIn(provider: string, identity: string): string | null {
  const [, digits = ''] = /\/(\d{17})$/.exec(identity) ?? [];
  const ids = new URL('id/', provider).href;
  const known = [ids, ids.replace(/^https:/, 'http:')].some((begin) => identity === `${begin}${digits}`);
  const id = steamIdOf(digits);
  return known && id.kind === 'id' ? id.digits : null;
}

/** At the beginning of a nonce (section 10.1); NaN if it has none. */
function timeOf(nonce: string): number {
  const [, time] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)[!-~]{0,235}$/.exec(nonce) ?? [];
  return time ? Date.parse(time) : Number.NaN;
}

/** Asks the provider whether it signed an answer (section 11.4.2), which it confirms only once. */
export async function whyNotSigned(
  provider: string,
  { fields }: Pick<ReadAnswer, 'fields'>,
  timeoutMs = CHECK_TIMEOUT_MS,
): Promise<RefusedAnswer | null> {
  const body = new URLSearchParams(fields);
  body.set('openid.mode', 'check_authentication');
  let text: string;
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await guardedFetch(null)(provider, { method: 'POST', headers: HEADERS, body, signal });
    if (answer.status !== 200)
      return { error: 'unavailable', reason: `the provider answers HTTP ${answer.status}` };
    text = await answer.text();
  } catch (error) {
    return { error: 'unavailable', reason: error instanceof Error ? error.name : 'unknown error' };
  }
  // Key-value form (section 4.1.1): one `name:value` in each line.
  const lines = text.split('\n');
  if (!lines.includes(`ns:${NAMESPACE}`))
    return { error: 'unavailable', reason: 'the provider’s answer has no ns' };
  if (lines.includes('is_valid:true')) return null;
  return { error: 'forged', reason: 'the provider did not sign this answer, or it was asked before' };
}
