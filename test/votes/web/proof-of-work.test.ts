import type { Challenge } from 'altcha-lib';
import { ObjectId } from 'mongodb';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MINUTE } from '../../../src/platform/clock.ts';
import { originsOf } from '../../../src/votes/web/origin-keys.ts';
import {
  difficulty,
  makeChallenge,
  type ProofOfWorkSubject,
  useProofOfWork,
} from '../../../src/votes/web/proof-of-work.ts';
import { stoppedClock } from '../../support/stopped-clock.ts';
import { testDeps } from '../../support/test-deps.ts';
import { solve } from '../../support/vote-form.ts';

type Deps = Parameters<typeof makeChallenge>[0] & Parameters<typeof useProofOfWork>[0];

const IPV4 = '203.0.113.7';
const IPV6 = '2001:db8:1:1::7';
const clock = stoppedClock();
let deps: Deps;
let subject: ProofOfWorkSubject;
let proof: string;

beforeAll(async () => {
  deps = { ...(await testDeps()), clock };
});

beforeEach(async () => {
  subject = { serverId: new ObjectId(), player: 'steve', session: '', origins: originsAt(IPV4) };
  proof = await proofFor();
});

function originsAt(address: string) {
  return originsOf(deps, { address, account: null });
}

async function proofFor(changes: Partial<ProofOfWorkSubject> = {}): Promise<string> {
  return solve(await makeChallenge(deps, { ...subject, ...changes }, 0));
}

const use = (sent: string | undefined, changes: Partial<ProofOfWorkSubject> = {}) =>
  useProofOfWork(deps, { ...subject, ...changes }, sent);

type Sent = { challenge: { parameters: { cost: number } }; solution: object };

/** The proof with a part changed. */
function changed(change: (sent: Sent) => void): string {
  const sent = JSON.parse(Buffer.from(proof, 'base64').toString());
  change(sent);
  return Buffer.from(JSON.stringify(sent)).toString('base64');
}

describe('a proof of work', () => {
  it('is accepted, and names no other network', async () => {
    expect(await use(proof)).toEqual({ elsewhere: [] });
  });

  it('is refused with its reason when it is missing, unreadable, forged or wrong', async () => {
    const easier = changed(({ challenge }) => {
      challenge.parameters.cost = 1;
    });
    const wrong = changed((sent) => {
      sent.solution = { counter: 0, derivedKey: '00'.repeat(32) };
    });
    const sent = [undefined, '', 'no proof', 'A'.repeat(30_000), easier, wrong];
    expect(await Promise.all(sent.map((one) => use(one)))).toEqual([
      'proof-missing',
      'proof-missing',
      'proof-malformed',
      'proof-malformed',
      'proof-forged',
      'proof-wrong',
    ]);
    // What was refused used up nothing.
    expect(await use(proof)).toEqual({ elsewhere: [] });
  });

  it('is for one server, one player and one network', async () => {
    expect(await use(proof, { serverId: new ObjectId() })).toBe('proof-for-another-server');
    expect(await use(proof, { player: 'alex' })).toBe('proof-for-another-player');
    expect(await use(proof, { origins: originsAt('198.51.100.1') })).toBe('proof-for-another-network');
    // Another address of the same /24 is the same network.
    expect(await use(proof, { origins: originsAt('203.0.113.99') })).toEqual({ elsewhere: [] });
  });

  it('that was made on another network is accepted in the session of its page only', async () => {
    const made = { session: 'one', origins: originsAt(IPV6) };
    const inSession = await proofFor(made);
    const without = await proofFor({ ...made, session: '' });
    for (const [sent, session] of [
      [inSession, ''],
      [inSession, 'two'],
      [without, 'one'],
      [without, ''],
    ] as const)
      expect(await use(sent, { session })).toBe('proof-for-another-network');
    // The vote counts in the networks of the challenge too.
    expect(await use(inSession, { session: 'one' })).toEqual({ elsewhere: originsAt(IPV6) });
  });

  it('expires after 10 minutes', async () => {
    clock.move(10 * MINUTE - 1);
    const late = await proofFor();
    expect(await use(proof)).toEqual({ elsewhere: [] });
    clock.move(10 * MINUTE);
    expect(await use(late)).toBe('proof-expired');
  });

  it('counts once, however many requests with it come at once, from whatever network', async () => {
    const session = 'one';
    const shared = await proofFor({ session });
    const uses = await Promise.all(
      Array.from({ length: 40 }, (_, n) => use(shared, { session, origins: originsAt(n % 2 ? IPV4 : IPV6) })),
    );
    expect(uses.filter((used) => typeof used === 'object')).toHaveLength(1);
    expect(uses.filter((used) => used === 'proof-used')).toHaveLength(39);
  });
});

describe('a challenge', () => {
  it('is twice as hard after each ten votes of new players, and at most sixteen times', () => {
    expect([0, 9, 10, 20, 39, 40, 1_000].map(difficulty)).toEqual([1, 1, 2, 4, 8, 16, 16]);
  });

  it('has a secret number of at most 200, or as many times more as it is harder', async () => {
    const counterOf = async (votes: number) => {
      const challenge: Challenge = await makeChallenge(deps, subject, votes);
      return JSON.parse(Buffer.from(await solve(challenge), 'base64').toString()).solution.counter;
    };
    expect(await counterOf(9)).toBeLessThanOrEqual(200);
    // At most 3,200: for fifteen of sixteen challenges it is above 200.
    let counter = 0;
    for (let tries = 0; tries < 20 && counter <= 200; tries += 1) counter = await counterOf(40);
    expect(counter).toBeGreaterThan(200);
  });
});
