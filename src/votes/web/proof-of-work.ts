import { randomInt } from 'node:crypto';
import { type Challenge, createChallenge, type Solution, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import type { Collection, ObjectId } from 'mongodb';
import { type InferRawDocType, Schema } from 'mongoose';
import { z } from 'zod';
import { ESTABLISHED_AFTER_DAYS } from '../../accounts/mailbox.ts';
import { defineMessage, filled } from '../../language/t.ts';
import { after, type Clock, MINUTE } from '../../platform/clock.ts';
import { WIDER_NETWORK_FACTOR } from '../../platform/limits/network-of.ts';
import { isDuplicateKey } from '../../platform/mongo.ts';
import { derivedKey } from '../../platform/secrets.ts';
import type { Origin } from './origin-keys.ts';

const usedProofOfWorkDefinition = {
  /** Of the challenge; for a sign-in through Steam, `steam` and its nonce. */
  _id: { type: String, required: true },
  /** The document is deleted then. */
  expiresAt: { type: Date, required: true },
} as const;

/** Also sign-ins through Steam: all processes together accept each only once. */
export const usedProofOfWorkSchema = new Schema(usedProofOfWorkDefinition, { collection: 'used_proofs' });
usedProofOfWorkSchema.index({ expiresAt: 1 }, { expireAfterSeconds: 60 });

export type UsedProofOfWork = InferRawDocType<typeof usedProofOfWorkDefinition>;

/**
 * What a solution is valid for; the network or the session must be the same. `player`, `session`: keyed hashes; no
 * session without JavaScript. `origins`: the network and, for IPv6, the /48 around it.
 */
export type ProofOfWorkSubject = { serverId: ObjectId; player: string; session: string; origins: Origin[] };

/**
 * `elsewhere`: the other network on which the challenge was requested, with its /48. The vote counts in both
 * (docs/adr/0108-accounts-count-against-their-network.md).
 */
export type AcceptedProofOfWork = { elsewhere: Origin[] };

const VALID_MS = 10 * MINUTE;

/** The codes are stable: the JSON answer contains them. */
export const PROOF_OF_WORK_ERRORS = {
  'proof-missing': filled(
    defineMessage(
      'A vote without an account needs JavaScript. Allow it for this page, or sign in with an account that is older than {days} days.',
    ),
    { days: ESTABLISHED_AFTER_DAYS },
  ),
  'proof-malformed': defineMessage('The proof of work cannot be read. Vote again.'),
  'proof-forged': defineMessage(
    'The proof of work was not made by this listing, or it was changed. Vote again.',
  ),
  'proof-expired': filled(
    defineMessage('The proof of work has expired after {minutes} minutes. Vote again.'),
    { minutes: VALID_MS / MINUTE },
  ),
  'proof-for-another-server': defineMessage('The proof of work is for another server. Vote again.'),
  'proof-for-another-player': defineMessage('The proof of work is for another player. Vote again.'),
  'proof-for-another-network': defineMessage('The proof of work was made on another network. Vote again.'),
  'proof-wrong': defineMessage('The proof of work is wrong. Vote again.'),
  'proof-used': defineMessage(
    'This proof of work was used already. If your vote does not count yet, vote again.',
  ),
} as const;
export type ProofOfWorkError = keyof typeof PROOF_OF_WORK_ERRORS;

/**
 * A browser tries numbers from 0 to a secret one, normally at most `MOST`. All tries take about half a second on a
 * phone of 2019 (docs/adr/0036-web-votes.md).
 */
export const PROOF_ITERATIONS = 2_000;
const MOST = 200;

/** Times a normal challenge. */
const HARDEST = 16;

/** After each such group of votes of new players in a day, an origin's challenges become twice as hard. */
const VOTES_A_STEP = 10;

type SignDeps = { config: { SECRET_KEY: string }; clock: Clock };

/** Derived from `SECRET_KEY`, so all processes share them. */
function secretsOf({ SECRET_KEY }: SignDeps['config']) {
  const secret = (purpose: string) => derivedKey(SECRET_KEY, purpose).toString('hex');
  return {
    hmacSignatureSecret: secret('proof-of-work challenges'),
    hmacKeySignatureSecret: secret('proof-of-work solutions'),
  };
}

/** Times a normal challenge; `votes` of new players today. */
export function difficulty(votes: number): number {
  return Math.min(2 ** Math.floor(votes / VOTES_A_STEP), HARDEST);
}

/** Valid for 10 minutes. Nothing is stored. `votesToday`: as `originsToday` returns them. */
export function makeChallenge(
  { config, clock, proofIterations }: SignDeps & { proofIterations: number },
  { serverId, player, session, origins }: ProofOfWorkSubject,
  votesToday: number,
): Promise<Challenge> {
  const factor = difficulty(votesToday);
  return createChallenge({
    algorithm: 'PBKDF2/SHA-256',
    cost: proofIterations,
    counter: randomInt(1, MOST * factor + 1),
    deriveKey,
    data: {
      server: serverId.toHexString(),
      player,
      session,
      origin: idIn(origins, 'network'),
      site: idIn(origins, 'site'),
      // altcha compares its own `expiresAt` with the system's clock, not with `clock`.
      expires: after(clock.now(), VALID_MS).getTime(),
    },
    ...secretsOf(config),
  });
}

const idIn = (origins: Origin[], kind: Origin['kind']) => origins.find((one) => one.kind === kind)?.id ?? '';

const text = z.string().max(200);

/** The vote form sends it as base64 of JSON. The signature protects all `parameters`. */
const proofOfWorkSchema = z.object({
  challenge: z.object({
    parameters: z.looseObject({
      nonce: z.string().regex(/^[0-9a-f]{32}$/),
      data: z.object({
        server: text,
        player: text,
        session: text,
        origin: text,
        site: text,
        expires: z.number(),
      }),
    }),
    signature: text,
  }),
  solution: z.object({ counter: z.number(), derivedKey: text }),
});

/** In characters. A normal proof has about 1,200. */
const LONGEST = 4_000;

/**
 * Checks a proof and marks it as used. The signature comes first: a forged proof costs two hashes and no query. A
 * browser with IPv4 and IPv6 may get its challenge on another network: only the page that got it knows the session.
 */
export async function useProofOfWork(
  deps: SignDeps & { usedProofs: Collection<UsedProofOfWork> },
  subject: ProofOfWorkSubject,
  proof: string | undefined,
): Promise<ProofOfWorkError | AcceptedProofOfWork> {
  if (!proof) return 'proof-missing';
  const parsed = parseProofOfWork(proof);
  if (!parsed) return 'proof-malformed';
  const { challenge, solution } = parsed;
  const verified = await verifySolution({
    challenge: challenge as unknown as Challenge,
    solution: solution as Solution,
    deriveKey,
    ...secretsOf(deps.config),
  });
  if (verified.invalidSignature) return 'proof-forged';
  const { data, nonce } = challenge.parameters;
  if (data.expires <= deps.clock.now().getTime()) return 'proof-expired';
  if (data.server !== subject.serverId.toHexString()) return 'proof-for-another-server';
  if (data.player !== subject.player) return 'proof-for-another-player';
  const isElsewhere = data.origin !== idIn(subject.origins, 'network');
  if (isElsewhere && (data.session === '' || data.session !== subject.session))
    return 'proof-for-another-network';
  if (!verified.verified) return 'proof-wrong';
  try {
    await deps.usedProofs.insertOne({ _id: nonce, expiresAt: new Date(data.expires) });
    return { elsewhere: isElsewhere ? originsIn(data) : [] };
  } catch (error) {
    if (isDuplicateKey(error)) return 'proof-used';
    throw error;
  }
}

/** The origins for which the signature is valid. */
function originsIn({ origin, site }: { origin: string; site: string }): Origin[] {
  const network: Origin = { id: origin, kind: 'network', factor: 1 };
  return site ? [network, { id: site, kind: 'site', factor: WIDER_NETWORK_FACTOR }] : [network];
}

function parseProofOfWork(proof: string) {
  if (proof.length > LONGEST) return null;
  try {
    const json: unknown = JSON.parse(Buffer.from(proof, 'base64').toString('utf8'));
    return proofOfWorkSchema.safeParse(json).data ?? null;
  } catch {
    return null;
  }
}
