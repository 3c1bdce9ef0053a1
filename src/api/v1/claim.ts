import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { requireRightClock } from '../../http/clock-gate.ts';
import { withinDatabaseTime } from '../../http/database-time.ts';
import { RefusedError } from '../../http/http-errors.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { type AuthenticatedToken, kindOf } from '../../servers/api-token.ts';
import { COOLDOWN_HOURS, checkVote, nextVoteAt } from '../../votes/cast/cooldown.ts';
import { CLAIM_CALLS, type ClaimCalls } from '../../votes/claims/claim-calls.ts';
import { claimVote } from '../../votes/claims/claim-vote.ts';
import { callerOf } from './authentication.ts';
import { publicRecord } from './public-record.ts';
import {
  answer,
  BODY_FAILURES,
  CLAIM_KEY_LIMIT,
  COMMON_FAILURES,
  failure,
  jsonBody,
  params,
  REPLAYED_HEADER,
  timestamp,
  titled,
  tooManyRequests,
  usernameField,
} from './schemas.ts';
import { idempotencyKeyHeader, keyReusedRefusal } from './vote.ts';

/** Refuses a call with a claim key with 429 if there were too many; it counts as `cost` calls. API tokens have no limit. */
export function limitClaimKey(
  { claimCalls, clock }: AppDeps & { claimCalls: ClaimCalls },
  { token }: AuthenticatedToken,
  cost?: number,
): void {
  const nextAt = kindOf(token) === 'claim' ? claimCalls(token, cost) : null;
  if (nextAt) throw tooManyRequests('This claim key is used too often: the next call', nextAt, clock);
}

const body = jsonBody('ClaimRequest', {
  username: usernameField("The player's name; the same rules as for casting a vote."),
});

const claimed = titled('VoteClaim', {
  claimed: z
    .boolean()
    .describe(
      `Whether this call claimed the vote: reward the player now. False when there is no vote of the last ${COOLDOWN_HOURS} hours, and when it was claimed before.`,
    ),
  voted_at: timestamp.nullable().describe('When the player voted; null without a vote.'),
  claimed_at: timestamp.nullable().describe('When the vote was claimed; null if that is not on record.'),
  next_vote_at: timestamp.nullable().describe('When the next vote is allowed; null without a vote.'),
});

const querystring = z.object({
  username: usernameField(
    "The player's name, URL-encoded, given once; the same rules as for casting a vote.",
  ),
});

const checked = titled('VoteCheck', {
  has_voted: z.boolean().describe(`Whether this player voted in the last ${COOLDOWN_HOURS} hours.`),
  voted_at: timestamp.nullable().describe('When the player voted; null if `has_voted` is false.'),
  next_vote_at: timestamp.nullable().describe('When the next vote is allowed; null if `has_voted` is false.'),
});

/** GET …/check-vote: whether a player is in the cooldown. POST …/votes/claim: so that a plugin rewards once. */
export const claimEndpoints: FastifyPluginAsyncZod<{ deps: AppDeps; claimCalls: ClaimCalls }> = async (
  app,
  { deps, claimCalls },
) => {
  const parts = { ...deps, claimCalls };
  app.get(
    '/check-vote',
    {
      config: { scope: 'read', allowsClaimKeys: true },
      preHandler: requireRightClock(deps),
      schema: {
        operationId: 'checkVote',
        tags: ['votes'],
        summary: 'Check whether a player has voted',
        description: `No rate limit for API tokens. A claim key is accepted as well, for ${CLAIM_CALLS.times.toLocaleString('en')} calls a minute.`,
        params,
        querystring,
        response: {
          200: answer(checked, 'Whether the player has voted.'),
          ...COMMON_FAILURES,
          429: CLAIM_KEY_LIMIT,
        },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      limitClaimKey(parts, caller);
      const check = await withinDatabaseTime(
        request,
        checkVote(deps, caller.serverId, request.query.username),
      );
      return publicRecord(checked, check);
    },
  );
  app.post(
    '/votes/claim',
    {
      config: { scope: 'vote', allowsClaimKeys: true },
      preHandler: requireRightClock(deps),
      schema: {
        operationId: 'claimVote',
        tags: ['votes'],
        summary: 'Claim a vote',
        description: `Claims the player's vote of the last ${COOLDOWN_HOURS} hours, so that a plugin rewards it once: of any number of calls at once exactly one has \`claimed: true\`. Excluded and quarantined votes cannot be claimed. An API token or a claim key may call it.`,
        params,
        headers: z.looseObject({ 'idempotency-key': idempotencyKeyHeader }),
        body,
        response: {
          200: answer(claimed, 'Whether this call claimed a vote.', REPLAYED_HEADER),
          ...COMMON_FAILURES,
          ...BODY_FAILURES,
          409: failure(
            409,
            'The owner rewards votes with the vote listener only, so votes cannot be claimed.',
          ),
          422: failure(422, 'This Idempotency-Key was used with another username.'),
          429: CLAIM_KEY_LIMIT,
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { serverId, token } = caller;
      limitClaimKey(parts, caller);
      const { username } = request.body;
      const claim = { tokenId: token._id, key: request.headers['idempotency-key'] };
      const result = await withinDatabaseTime(request, claimVote(deps, { serverId, username }, claim));
      if (result.kind === 'off')
        throw new RefusedError({
          status: 409,
          code: 'claims-off',
          sentence: 'Claims are off for this server: its vote listener rewards votes.',
        });
      if (result.kind === 'key-reused') throw new RefusedError(keyReusedRefusal(result.vote));
      if (result.kind === 'claimed' && result.replayed) reply.header('idempotent-replayed', 'true');
      const { kind, vote } = result;
      return publicRecord(claimed, {
        claimed: kind === 'claimed',
        votedAt: vote?.votedAt,
        claimedAt: vote?.claim?.at,
        nextVoteAt: vote && nextVoteAt(vote),
      });
    },
  );
};
