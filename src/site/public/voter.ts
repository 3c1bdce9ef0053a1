import type { FastifyRequest } from 'fastify';
import { establishedAccount } from '../../accounts/established.ts';
import type { Platform } from '../../process/app-deps.ts';
import type { Voter } from '../../votes/web/origin-keys.ts';
import type { VoteFormView } from './vote-form.ts';

/** Who votes. An account that is not established votes as a visitor does. */
export function voterOf({ clock }: Pick<Platform, 'clock'>, { ip, signedIn }: FastifyRequest): Voter {
  return { address: ip, account: signedIn && establishedAccount(signedIn.user, clock.now()) };
}

/** What the vote form says about the account of a request. */
export function accountOf(
  platform: Pick<Platform, 'clock'>,
  request: FastifyRequest,
): VoteFormView['account'] {
  if (!request.signedIn) return 'none';
  return voterOf(platform, request).account ? 'established' : 'young';
}
