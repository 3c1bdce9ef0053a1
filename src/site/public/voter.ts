import type { FastifyRequest } from 'fastify';
import { establishedAccount } from '../../accounts/mailbox.ts';
import { notedUsername } from '../../favourites/favourites.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { fitsServer, type NamesOfServer } from '../../votes/identity/player-name.ts';
import type { Voter } from '../../votes/web/origin-keys.ts';
import type { VoteFormView } from './vote-form.ts';

/** The voter of a request. If the user's account is not established, the user votes like a visitor. */
export function voterOf({ clock }: AppDeps, { ip, signedIn }: FastifyRequest): Voter {
  return { address: ip, account: signedIn && establishedAccount(signedIn.user, clock.now()) };
}

/** The kind of the request's account, for the vote form. */
export function accountOf(deps: AppDeps, request: FastifyRequest): VoteFormView['account'] {
  if (!request.signedIn) return 'none';
  return voterOf(deps, request).account ? 'established' : 'young';
}

/** The player name of the user's last vote; undefined if it is not a valid name for the server's game. */
export async function ownNameOf(
  deps: AppDeps,
  { signedIn }: Pick<FastifyRequest, 'signedIn'>,
  server: NamesOfServer,
): Promise<string | undefined> {
  const name = signedIn && (await notedUsername(deps, signedIn.user._id));
  return name && fitsServer(server, name) ? name : undefined;
}
