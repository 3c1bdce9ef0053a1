import type { FastifyRequest } from 'fastify';
import type { Platform } from '../../process/platform.ts';
import type { Voter } from '../../votes/web/vote-origin.ts';

/** Who votes: a user counts as such once the address is confirmed, if the listing can confirm addresses. */
export function voterOf({ config }: Pick<Platform, 'config'>, { ip, signedIn }: FastifyRequest): Voter {
  const isUser = signedIn !== null && (config.SMTP_URL === undefined || signedIn.user.emailVerified);
  return { address: ip, userId: isUser ? signedIn.user._id : null };
}
