import type { FastifyInstance, FastifyRequest } from 'fastify';
import { UUID, type WithId } from 'mongodb';
import { z } from 'zod';
import { voteTimeline } from '../../delivery/timeline/vote-timeline.ts';
import { noteUsername } from '../../favourites/favourites.ts';
import { requireRightClock } from '../../http/clock-gate.ts';
import { databaseTimeLeft } from '../../http/database-time.ts';
import { type Refusal, sendRefusal } from '../../http/http-errors.ts';
import { requireIndexes } from '../../http/index-gate.ts';
import { t } from '../../language/t.ts';
import { SECOND } from '../../platform/clock.ts';
import { byNetwork, takeAll } from '../../platform/limits/by-network.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Server } from '../../servers/server.ts';
import { castVoteFromPage, challengeFor } from '../../votes/cast/cast-from-page.ts';
import { CastDeadline } from '../../votes/cast/deadline.ts';
import { VoteResultUnknownError } from '../../votes/cast/insert-vote.ts';
import { causeOf } from '../../votes/exclusions/quarantine.ts';
import { usernameSchema } from '../../votes/username.ts';
import type { Vote } from '../../votes/vote.ts';
import { voteStreak } from '../../votes/vote-streak.ts';
import { PageError } from '../error-pages.ts';
import { ANYONE } from '../route-options.ts';
import { readForm, type Typed } from '../shared/form.ts';
import { sendPage } from '../shared/layout.ts';
import { publicPath } from '../shared/server-paths.ts';
import { wantsPage } from '../wants-page.ts';
import type { PublicParts } from './public-parts.ts';
import { followingRenames, listedServer, serverOfForm, slugOfRequest } from './server-address.ts';
import { type VoteFormView, votePage } from './vote-form.ts';
import { incomplete, refusalOf, resultUnknown } from './vote-refusals.ts';
import { resultPage } from './vote-result.ts';
import { accountOf, voterOf } from './voter.ts';

/** The limit of challenges for a network. Each costs a key derivation and a query. A player may need several. */
const CHALLENGES = { times: 60, windowMs: 60 * SECOND };

/** A random secret that the form's script makes. Values in another form are ignored. */
const session = z
  .string()
  .regex(/^[\w-]{16,64}$/)
  .catch('');
const challengeForm = z.object({ username: usernameSchema, session });
const voteForm = z.object({
  username: usernameSchema,
  proof: z.string().default(''),
  session,
  again: z.string().default(''),
});

/** For these refusals, the browser makes another proof and votes again, without asking the player. */
const SOLVED_AGAIN: Refusal['code'][] = ['proof-for-another-network', 'proof-expired'];

/** `/servers/<slug>/vote`: a server's vote form, and the page with the result of a vote. */
export function votePages(app: FastifyInstance, parts: PublicParts): void {
  const { deps } = parts;
  formPage(app, deps);
  challengeRoute(app, deps);
  app.register(async (casting) => castingRoute(casting, parts));
  voteResultPage(app, deps);
}

function formPage(app: FastifyInstance, deps: AppDeps): void {
  app.get('/servers/:slug/vote', ANYONE, (request, reply) =>
    followingRenames(request, reply, async () => {
      const server = await listedServer(deps, slugOfRequest(request));
      const { username } = request.query as { username?: unknown };
      const name = usernameSchema.safeParse(username).data;
      const typed = { values: { username: name ?? '' }, errors: {} };
      const streak = name === undefined ? undefined : await voteStreak(deps, server, name);
      return sendPage(
        request,
        reply,
        votePage(app.site, { ...viewOf(deps, request, server, typed), streak }),
      );
    }),
  );
}

function viewOf(deps: AppDeps, request: FastifyRequest, server: WithId<Server>, typed: Typed): VoteFormView {
  return { server, typed, config: deps.config, account: accountOf(deps, request) };
}

/** The route from which the form's script gets a challenge. */
function challengeRoute(app: FastifyInstance, deps: AppDeps): void {
  app.post('/servers/:slug/vote/challenge', ANYONE, async (request, reply) => {
    const server = await serverOfForm(deps, request);
    const { data, typed } = readForm(challengeForm, request);
    if (!data) return sendRefusal(reply, incomplete(typed));
    const retryAt = await takeAll(deps, byNetwork('vote-challenge', request.ip, CHALLENGES));
    if (retryAt)
      throw new PageError(
        429,
        t('Too many votes were started from your network. Try again in a minute, or sign in to vote.'),
        retryAt,
      );
    const vote = { server, username: data.username, voter: voterOf(deps, request), session: data.session };
    const made = await challengeFor(deps, vote);
    if (made.kind !== 'challenge') return sendRefusal(reply, refusalOf(made, deps));
    return reply.header('cache-control', 'no-store').send(made.challenge);
  });
}

/**
 * The route that casts the vote of a form. `app` must be a context of its own, because hooks that refuse requests are
 * added to it.
 */
function castingRoute(app: FastifyInstance, { deps, metrics }: PublicParts): void {
  const { site } = app;
  // If indexes are missing, a vote could be counted twice (design rule 1). So it is refused, as in the API.
  requireIndexes(app, deps);
  const options = { ...ANYONE, preHandler: requireRightClock(deps) };
  app.post('/servers/:slug/vote', options, async (request, reply) => {
    const server = await serverOfForm(deps, request);
    const { data, typed } = readForm(voteForm, request);
    const refuse = async (refusal: Refusal, nextVoteAt?: Date) => {
      if (!wantsPage(request)) return sendRefusal(reply, refusal);
      // When the form is shown again, it has no proof, because a proof is valid for one vote.
      const named = { ...typed, values: { username: typed.values.username ?? '' } };
      const solvesAgain = SOLVED_AGAIN.includes(refusal.code) && data?.again === '';
      if (solvesAgain) {
        const page = votePage(site, { ...viewOf(deps, request, server, named), solvesAgain });
        return sendPage(request, reply, page);
      }
      const shown = { ...named, errors: { ...typed.errors, form: refusal.sentence } };
      const streak = data ? await voteStreak(deps, server, data.username) : undefined;
      const page = votePage(site, { ...viewOf(deps, request, server, shown), nextVoteAt, streak });
      return sendPage(request, reply.headers(refusal.headers ?? {}), page, refusal.status);
    };
    if (!data) return refuse(incomplete(typed));
    const voter = voterOf(deps, request);
    const { username, proof, session } = data;
    const vote = { server, username, voter, proof, session };
    const deadline = new CastDeadline(databaseTimeLeft(request));
    const result = await castVoteFromPage(deps, vote, deadline).catch((error: unknown) => {
      if (!(error instanceof VoteResultUnknownError)) throw error;
      return null;
    });
    const serverId = server._id.toHexString();
    if (!result) {
      metrics.countVoteResult('unknown');
      request.log.warn({ event: 'web_vote.result_unknown', serverId });
      return refuse(resultUnknown());
    }
    metrics.countVoteResult(result.kind === 'accepted' ? 'accepted' : 'refused');
    const userId = request.signedIn?.user._id;
    if (userId && (result.kind === 'accepted' || result.kind === 'refused')) {
      // The vote is already cast: if remembering the name fails, the answer stays the same.
      await noteUsername(deps, userId, data.username).catch((error: unknown) =>
        request.log.warn({ event: 'favourites.name_not_noted', reason: String(error) }),
      );
    }
    if (result.kind !== 'accepted') {
      const nextVoteAt = result.kind === 'refused' ? result.nextVoteAt : undefined;
      return refuse(refusalOf(result, deps), nextVoteAt);
    }
    const voteId = result.voteId.toString();
    request.log.info({ event: 'web_vote.accepted', serverId, voteId, isQuarantined: result.isQuarantined });
    return reply.redirect(`${site.base}${publicPath(server, `/vote/${voteId}`)}`, 303);
  });
}

function voteResultPage(app: FastifyInstance, deps: AppDeps): void {
  app.get('/servers/:slug/vote/:voteId', ANYONE, (request, reply) =>
    followingRenames(request, reply, async () => {
      const server = await listedServer(deps, slugOfRequest(request));
      const vote = await voteOf(deps, request, server);
      const listener = await deps.listeners.findOne({ serverId: server._id });
      const now = deps.clock.now();
      const [{ status }, monthlyVotes, streak, heldFor] = await Promise.all([
        voteTimeline(deps, vote, listener, now),
        deps.voteCounts.ofMonth(server._id, now),
        voteStreak(deps, server, vote.username),
        vote.quarantinedAt ? causeOf(deps, vote) : undefined,
      ]);
      const view = { server, vote, status, streak, heldFor, monthlyVotes: monthlyVotes(), now };
      return sendPage(request, reply, resultPage(app.site, view));
    }),
  );
}

async function voteOf(deps: AppDeps, request: FastifyRequest, server: WithId<Server>): Promise<Vote> {
  const { voteId } = request.params as { voteId: string };
  const vote = UUID.isValid(voteId)
    ? await deps.votes.findOne({ _id: new UUID(voteId), serverId: server._id })
    : null;
  if (!vote) throw new PageError(404, t('This server has no such vote.'));
  return vote;
}
