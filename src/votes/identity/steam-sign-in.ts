import { randomBytes } from 'node:crypto';
import type { ObjectId } from 'mongodb';
import { after, type Clock, MINUTE } from '../../platform/clock.ts';
import { createCookie, isSameSignature, signatureOf } from '../../platform/cookies.ts';
import { isDuplicateKey } from '../../platform/mongo.ts';
import { derivedKey } from '../../platform/secrets.ts';
import type { VotesDeps } from '../deps.ts';
import { type AnswerError, readOpenIdAnswer, signInAddress, whyNotSigned } from './steam-openid.ts';

export const SIGN_IN_MS = 15 * MINUTE;

const STATE_BYTES = 16;

/** The vote form, which has them in its address, shows a text for each. */
export type SteamSignInError =
  | AnswerError
  /** No cookie of the sign-in, or it does not match the `state`. */
  | 'another-browser'
  | 'another-server'
  | 'used';

export type RefusedSignIn = { error: SteamSignInError; reason: string };

/** It began in this browser, for this server, and has not expired. */
export type Begun = { nonce: string; expiresAt: Date };

/** `returnAddress`: of the return route, without its query. */
export type SignInPlace = { serverId: ObjectId; returnAddress: string };

export type SteamSignIn = {
  /** Nothing is stored: the return address has a `state`, signed together with a secret in the browser's cookie. */
  begin(place: SignInPlace, cookies: string | undefined): { address: string; cookie: string };
  /** When Steam has sent the player back: two hashes. */
  check(place: SignInPlace, query: URLSearchParams, cookies: string | undefined): Begun | RefusedSignIn;
  /** Marks the sign-in as used, by any process, and then asks the provider. */
  finish(
    place: SignInPlace,
    query: URLSearchParams,
    begun: Begun,
  ): Promise<{ steamId: string } | RefusedSignIn>;
};

/** It proves a SteamID and makes no account. */
export function createSteamSignIn({ config, usedProofs }: VotesDeps, clock: Clock): SteamSignIn {
  const { PUBLIC_URL, STEAM_OPENID_URL: provider } = config;
  const browser = createCookie(config, { name: 'steam-sign-in', lifetimeMs: SIGN_IN_MS, under: '/servers' });
  const key = derivedKey(config.SECRET_KEY, 'sign-ins through Steam');
  const signed = (state: string, secret: string) => signatureOf(key, `${state} ${secret}`);
  const returnTo = ({ returnAddress }: SignInPlace, state: string) => `${returnAddress}?state=${state}`;

  return {
    begin(place, cookies) {
      // A secret that the browser has stays: two tabs may sign in at the same time.
      const secret = browser.read(cookies) || randomBytes(STATE_BYTES).toString('base64url');
      const expires = after(clock.now(), SIGN_IN_MS).getTime().toString(36);
      const nonce = randomBytes(STATE_BYTES).toString('base64url');
      const state = `${expires}.${nonce}.${place.serverId.toHexString()}`;
      const address = signInAddress(provider, {
        realm: `${PUBLIC_URL}/`,
        returnTo: returnTo(place, `${state}.${signed(state, secret)}`),
      });
      return { address, cookie: browser.set(secret) };
    },
    check({ serverId }, query, cookies) {
      const [expires = '', nonce = '', server = '', signature = ''] = (query.get('state') ?? '').split('.');
      const secret = browser.read(cookies);
      if (secret === '')
        return { error: 'another-browser', reason: 'the browser has no cookie of the sign-in' };
      if (!isSameSignature(signature, signed(`${expires}.${nonce}.${server}`, secret)))
        return { error: 'another-browser', reason: 'the state is not of this browser' };
      const expiresAt = new Date(Number.parseInt(expires, 36));
      if (expiresAt <= clock.now()) return { error: 'expired', reason: 'the sign-in took too long' };
      if (server !== serverId.toHexString())
        return { error: 'another-server', reason: 'the sign-in began for another server' };
      return { nonce, expiresAt };
    },
    async finish(place, query, { nonce, expiresAt }) {
      const expected = { returnTo: returnTo(place, query.get('state') ?? ''), now: clock.now() };
      const answer = readOpenIdAnswer(provider, query, expected);
      if ('error' in answer) return answer;
      // The provider signs the return address with the nonce, so an answer that arrives twice is refused. The nonce is
      // stored before the provider is asked: each sign-in causes at most one request.
      try {
        await usedProofs.insertOne({ _id: `steam ${nonce}`, expiresAt });
      } catch (error) {
        if (isDuplicateKey(error)) return { error: 'used', reason: 'the answer was used before' };
        throw error;
      }
      return (await whyNotSigned(provider, answer)) ?? { steamId: answer.steamId };
    },
  };
}
