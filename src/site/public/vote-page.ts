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
import { serverAbove } from '../../ranking/server-above.ts';
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
import { isUnchanged, seenMark, sendUnchanged, stateOf } from '../shared/live.ts';
import { publicPath } from '../shared/server-paths.ts';
import { wantsPage } from '../wants-page.ts';
import { readOtherServers } from './other-servers.ts';
import type { PublicParts } from './public-parts.ts';
import { followingRenames, listedServer, serverOfForm, slugOfRequest } from './server-address.ts';
import { type VotePageView, votePage } from './vote-form.ts';
import { incomplete, refusalOf, resultUnknown } from './vote-refusals.ts';
import { voteReminder } from './vote-reminder.ts';
import { resultPage, type VoteState } from './vote-result.ts';
import { accountOf, ownNameOf, voterOf } from './voter.ts';

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
  voteReminder(app, deps);
  voteResultPage(app, deps);
}

function formPage(app: FastifyInstance, deps: AppDeps): void {
  app.get('/servers/:slug/vote', ANYONE, (request, reply) =>
    followingRenames(request, reply, async () => {
      const server = await listedServer(deps, slugOfRequest(request));
      const { username } = request.query as { username?: unknown };
      const ownName = username === undefined ? await ownNameOf(deps, request, server) : undefined;
      const name = usernameSchema.safeParse(username ?? ownName).data;
      const typed = { values: { username: name ?? '' }, errors: {} };
      return sendPage(request, reply, votePage(app.site, await viewOf(deps, request, server, typed)));
    }),
  );
}

/** What the vote page shows: with a valid name, the votes of this player as well. */
async function viewOf(
  deps: AppDeps,
  request: FastifyRequest,
  server: WithId<Server>,
  typed: Typed,
): Promise<VotePageView> {
  const name = usernameSchema.safeParse(typed.values.username).data;
  const [streak, others] = await Promise.all([
    name === undefined ? undefined : voteStreak(deps, server, name),
    readOtherServers(deps, request, server),
  ]);
  return { server, typed, config: deps.config, account: accountOf(deps, request), streak, others };
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
    const refuse = async (refusal: Refusal) => {
      if (!wantsPage(request)) return sendRefusal(reply, refusal);
      // When the form is shown again, it has no proof, because a proof is valid for one vote.
      const named = { ...typed, values: { username: typed.values.username ?? '' } };
      const solvesAgain = SOLVED_AGAIN.includes(refusal.code) && data?.again === '';
      const errors = solvesAgain ? {} : { ...typed.errors, form: refusal.sentence };
      const view = await viewOf(deps, request, server, { ...named, errors });
      const page = votePage(site, { ...view, solvesAgain });
      if (solvesAgain) return sendPage(request, reply, page);
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
    if (result.kind !== 'accepted') return refuse(refusalOf(result, deps));
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
      const shown = await readState(deps, server, vote);
      const seen = seenMark(request);
      if (seen && isUnchanged(seen, shown.state, shown.now)) return sendUnchanged(reply);
      // htmx takes only the refreshed part from its answer.
      const around = request.headers['hx-request'] ? null : await readAround(deps, request, server, vote);
      return sendPage(request, reply, resultPage(app.site, shown, around));
    }),
  );
}

async function readState(deps: AppDeps, server: WithId<Server>, vote: Vote): Promise<VoteState> {
  const now = deps.clock.now();
  const listener = await deps.listeners.findOne({ serverId: server._id });
  const [{ status }, votesOfMonth, heldFor, above] = await Promise.all([
    voteTimeline(deps, vote, listener, now),
    deps.voteCounts.ofMonth(server._id, now),
    vote.quarantinedAt ? causeOf(deps, vote) : undefined,
    serverAbove(deps, server),
  ]);
  const monthlyVotes = votesOfMonth();
  const state = stateOf(status, vote.quarantinedAt, vote.excludedAt, vote.claim, monthlyVotes, above);
  return { server, vote, status, heldFor, monthlyVotes, above, state, now };
}

async function readAround(deps: AppDeps, request: FastifyRequest, server: WithId<Server>, vote: Vote) {
  const [streak, others] = await Promise.all([
    voteStreak(deps, server, vote.username),
    readOtherServers(deps, request, server),
  ]);
  return { streak, others, remembers: !request.signedIn };
}

async function voteOf(deps: AppDeps, request: FastifyRequest, server: WithId<Server>): Promise<Vote> {
  const { voteId } = request.params as { voteId: string };
  const vote = UUID.isValid(voteId)
    ? await deps.votes.findOne({ _id: new UUID(voteId), serverId: server._id })
    : null;
  if (!vote) throw new PageError(404, t('This server has no such vote.'));
  return vote;
}
