import { pbkdf2Sync } from 'node:crypto';
import { type Challenge, solveChallenge } from 'altcha-lib';
import { OWN_ORIGIN, type WebApp } from './web-app.ts';

/** A visitor of the vote form. */
export type Visitor = {
  /** The network address of its requests. */
  address?: string;
  /** Headers with the session of a signed-in user. */
  headers?: Record<string, string>;
};

/** Sends a form of the vote page as its script does. A refusal is JSON. */
export function postVoteForm(
  { app, deps }: WebApp,
  path: string,
  fields: Record<string, string>,
  { address = '203.0.113.7', headers = {} }: Visitor = {},
) {
  return app.inject({
    method: 'POST',
    url: `${deps.config.basePath}/servers/${path}`,
    remoteAddress: address,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...OWN_ORIGIN,
      ...headers,
    },
    payload: new URLSearchParams(fields).toString(),
  });
}

/** Solves a challenge. Returns the proof of work as the vote form sends it. */
export async function solve(challenge: Challenge): Promise<string> {
  const solution = await solveChallenge({
    challenge,
    // The library's own waits for a thread at each of some hundred tries.
    deriveKey: async ({ cost, keyLength = 32 }, salt, password) => ({
      derivedKey: pbkdf2Sync(password, salt, cost, keyLength, 'sha256'),
    }),
  });
  return Buffer.from(JSON.stringify({ challenge, solution })).toString('base64');
}

/** Gets and solves a challenge of a visitor. Returns the proof of work. */
export async function proofOfWorkFor(
  web: WebApp,
  slug: string,
  username: string,
  visitor?: Visitor,
): Promise<string> {
  const answer = await postVoteForm(web, `${slug}/vote/challenge`, { username }, visitor);
  if (answer.statusCode !== 200) throw new Error(`no challenge: ${answer.statusCode} ${answer.body}`);
  return solve(answer.json<Challenge>());
}

/** Votes as a visitor without an account does: gets a challenge, solves it and sends the form. */
export async function voteOnPage(web: WebApp, slug: string, username: string, visitor?: Visitor) {
  const proof = await proofOfWorkFor(web, slug, username, visitor);
  return postVoteForm(web, `${slug}/vote`, { username, proof }, visitor);
}
