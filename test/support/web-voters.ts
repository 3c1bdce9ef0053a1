import type { ObjectId } from 'mongodb';
import { type EstablishedAccount, establishedAccount } from '../../src/accounts/mailbox.ts';
import { after, DAY, SECOND } from '../../src/platform/clock.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { CastDeadline } from '../../src/votes/cast/cast-deadline.ts';
import { castVoteFromPage, challengeFor, type PageVoteResult } from '../../src/votes/cast/cast-from-page.ts';
import type { Voter } from '../../src/votes/web/origin-keys.ts';
import { solve } from './vote-form.ts';

/** The result of a vote: counted, held, or the code of its refusal. */
export type Outcome = 'counted' | 'held' | Exclude<PageVoteResult['kind'], 'accepted'>;

/** Creates the account of a user who signed up `days` days ago and confirmed the address. */
export function accountOf(
  { clock }: Pick<AppDeps, 'clock'>,
  email: string,
  days = 8,
): EstablishedAccount | null {
  const now = clock.now();
  return establishedAccount({ email, emailVerified: true, createdAt: after(now, -days * DAY) }, now);
}

/** Votes as the vote form does. Without an established account, it solves a challenge first. */
export async function voteAs(
  deps: AppDeps,
  serverId: ObjectId,
  username: string,
  voter: Voter,
): Promise<Outcome> {
  const server = await deps.servers.findOne({ _id: serverId });
  if (!server) throw new Error('no such server');
  let proof = '';
  if (!voter.account) {
    const made = await challengeFor(deps, { server, username, voter });
    if (made.kind !== 'challenge') return made.kind;
    proof = await solve(made.challenge);
  }
  const result = await castVoteFromPage(
    deps,
    { server, username, voter, proof },
    new CastDeadline(20 * SECOND),
  );
  if (result.kind !== 'accepted') return result.kind;
  return result.isQuarantined ? 'held' : 'counted';
}
