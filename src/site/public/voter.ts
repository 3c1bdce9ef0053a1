import type { FastifyRequest } from 'fastify';
import { establishedAccount } from '../../accounts/established.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Voter } from '../../votes/web/origin-keys.ts';
import type { VoteFormView } from './vote-form.ts';

/** Who votes. An account that is not established votes as a visitor does. */
export function voterOf({ clock }: Pick<AppDeps, 'clock'>, { ip, signedIn }: FastifyRequest): Voter {
  return { address: ip, account: signedIn && establishedAccount(signedIn.user, clock.now()) };
}

/** What the vote form says about the account of a request. */
export function accountOf(deps: Pick<AppDeps, 'clock'>, request: FastifyRequest): VoteFormView['account'] {
  if (!request.signedIn) return 'none';
  return voterOf(deps, request).account ? 'established' : 'young';
}
