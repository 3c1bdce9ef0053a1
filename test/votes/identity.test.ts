import { beforeEach, describe, expect, test } from 'vitest';
import { DAY, MINUTE, SECOND } from '../../src/platform/clock.ts';
import { createProvenIds, PROVEN_ID_MS } from '../../src/votes/identity/proven-id.ts';
import { readOpenIdAnswer, signInAddress, whyNotSigned } from '../../src/votes/identity/steam-openid.ts';
import { startSteamProvider } from '../support/steam-provider.ts';
import { stoppedClock } from '../support/stopped-clock.ts';

const RETURN_TO = 'https://vote.example.org/servers/alpha/vote/steam/return?state=abc';
const GABE = '76561197960287930';

describe('an answer of the provider', async () => {
  const steam = await startSteamProvider();
  const provider = steam.env.STEAM_OPENID_URL ?? '';

  beforeEach(() => {
    Object.assign(steam, { player: GABE, behaviour: 'answers', checks: 0 });
  });

  /** What the provider sends back, with changed or removed fields. */
  async function answered(changes: Record<string, string | null> = {}): Promise<URLSearchParams> {
    const address = signInAddress(provider, { realm: 'https://vote.example.org/', returnTo: RETURN_TO });
    const { headers } = await fetch(address, { redirect: 'manual' });
    const { searchParams } = new URL(headers.get('location') ?? '');
    for (const [name, value] of Object.entries(changes))
      if (value === null) searchParams.delete(`openid.${name}`);
      else searchParams.set(`openid.${name}`, value);
    return searchParams;
  }

  const read = (query: URLSearchParams, now = new Date()) =>
    readOpenIdAnswer(provider, query, { returnTo: RETURN_TO, now });

  async function check(query: URLSearchParams, timeoutMs?: number) {
    const answer = read(query);
    if ('error' in answer) throw new Error(answer.reason);
    return whyNotSigned(provider, answer, timeoutMs);
  }

  test('names the player, and the provider confirms it once', async () => {
    const query = await answered();
    expect(read(query)).toMatchObject({ steamId: GABE });
    expect(await check(query)).toBeNull();
    expect(await check(query)).toMatchObject({ error: 'forged' });
  });

  const other = GABE.replace(/0$/, '1');
  const root = provider.replace('login', 'id');
  test.each<[string, Record<string, string | null>, string]>([
    ['a cancelled sign-in', { mode: 'cancel' }, 'cancelled'],
    ['an error of the provider', { mode: 'error' }, 'malformed'],
    ['no mode', { mode: null }, 'malformed'],
    ['another version of OpenID', { ns: 'http://openid.net/signon/1.1' }, 'malformed'],
    ['another provider', { op_endpoint: 'https://example.org/openid/login' }, 'malformed'],
    ['another return address', { return_to: RETURN_TO.replace('alpha', 'beta') }, 'another-address'],
    ['another state', { return_to: `${RETURN_TO}d` }, 'another-address'],
    ['an identity of another host', both(`https://example.org/openid/id/${GABE}`), 'malformed'],
    ['an identity on another path', both(`${root.replace('/id', '/group')}/${GABE}`), 'malformed'],
    ['an identity that is no SteamID', both(`${root}/12345678901234567`), 'malformed'],
    ['two identities', { identity: `${root}/${other}` }, 'malformed'],
    ['no nonce', { response_nonce: null }, 'malformed'],
    ['a nonce without a time', { response_nonce: 'abc' }, 'expired'],
    ['an old nonce', { response_nonce: '2020-01-01T00:00:00Zabc' }, 'expired'],
    ['a field that is not signed', { signed: 'signed,op_endpoint,return_to,response_nonce' }, 'malformed'],
    ['too much text', { more: 'x'.repeat(4_000) }, 'malformed'],
  ])('is refused for %s, before the provider is asked', async (_, changes, error) => {
    expect(read(await answered(changes))).toEqual({ error, reason: expect.any(String) });
    expect(steam.checks).toBe(0);
  });

  test('is refused if a field occurs twice', async () => {
    const query = await answered();
    query.append('openid.claimed_id', `${root}/${other}`);
    expect(read(query)).toMatchObject({ error: 'malformed', reason: 'a field occurs twice' });
  });

  test('is refused 5 minutes after the time of its nonce, and as long before', async () => {
    const query = await answered();
    const at = Date.parse((query.get('openid.response_nonce') ?? '').slice(0, 20));
    for (const away of [-5 * MINUTE, 5 * MINUTE])
      expect(read(query, new Date(at + away))).toMatchObject({ steamId: GABE });
    for (const away of [-5 * MINUTE - SECOND, 5 * MINUTE + SECOND])
      expect(read(query, new Date(at + away))).toMatchObject({ error: 'expired' });
  });

  test.each<[string, Record<string, string>]>([
    ['another player under the signature', both(`${root}/${other}`)],
    ['another signature', { sig: 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=' }],
    ['a key that the provider does not have', { assoc_handle: 'abc' }],
  ])('is not confirmed with %s', async (_, changes) => {
    expect(await check(await answered(changes))).toMatchObject({ error: 'forged' });
  });

  test.each([
    'fails',
    'redirects',
    'drips',
    'talks',
  ] as const)('is not confirmed by a provider that %s', async (behaviour) => {
    steam.behaviour = behaviour;
    expect(await check(await answered())).toMatchObject({ error: 'unavailable' });
    expect(steam.checks).toBe(1);
  });

  test('is not confirmed by a provider that hangs, or cannot be reached', async () => {
    const query = await answered();
    steam.behaviour = 'hangs';
    expect(await check(query, 50)).toMatchObject({ error: 'unavailable', reason: 'TimeoutError' });
    const answer = { fields: query };
    expect(await whyNotSigned('http://127.0.0.1:9/openid/login', answer)).toMatchObject({
      error: 'unavailable',
    });
  });

  function both(identity: string) {
    return { claimed_id: identity, identity };
  }
});

describe('the cookie of a proven SteamID', () => {
  const config = {
    PUBLIC_URL: 'https://vote.example.org',
    basePath: '',
    SECRET_KEY: 'a'.repeat(32),
    SECRET_KEY_PREVIOUS: undefined,
  };
  const valueIn = (header: string) => header.split(';')[0] ?? '';

  test('holds for 30 days, and is sent to no other site and no script', () => {
    const clock = stoppedClock();
    const ids = createProvenIds(config, clock);
    const header = ids.cookieFor(GABE);
    expect(header).toMatch(
      /^__Secure-tallyport\.steam=\S+; Max-Age=2592000; Path=\/servers; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(ids.find(`a=b; ${valueIn(header)}`)).toBe(GABE);
    clock.move(PROVEN_ID_MS - SECOND);
    expect(ids.find(valueIn(header))).toBe(GABE);
    clock.move(SECOND);
    expect(ids.find(valueIn(header))).toBeNull();
  });

  test('is worth nothing if it is changed, signed with another key, or empty', () => {
    const clock = stoppedClock();
    const ids = createProvenIds(config, clock);
    const value = valueIn(ids.cookieFor(GABE));
    const [, at = ''] = value.split('.').slice(1);
    expect(ids.find(value.replace(GABE, '76561197960287931'))).toBeNull();
    expect(ids.find(value.replace(`.${at}.`, `.${(clock.now().getTime() + DAY).toString(36)}.`))).toBeNull();
    expect(createProvenIds({ ...config, SECRET_KEY: 'b'.repeat(32) }, clock).find(value)).toBeNull();
    for (const cookies of [undefined, '', valueIn(ids.dropCookie())]) expect(ids.find(cookies)).toBeNull();
  });

  test('holds after a change of SECRET_KEY while SECRET_KEY_PREVIOUS is set', () => {
    const clock = stoppedClock();
    const value = valueIn(createProvenIds(config, clock).cookieFor(GABE));
    const changed = { ...config, SECRET_KEY: 'b'.repeat(32), SECRET_KEY_PREVIOUS: config.SECRET_KEY };
    expect(createProvenIds(changed, clock).find(value)).toBe(GABE);
  });
});
