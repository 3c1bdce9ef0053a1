import type { FastifyInstance, FastifyRequest } from 'fastify';
import { UUID, type WithId } from 'mongodb';
import { z } from 'zod';
import { ESTABLISHED_AFTER_DAYS } from '../../accounts/established.ts';
import { voteTimeline } from '../../delivery/timeline/vote-timeline.ts';
import { forgetUsername, noteUsername } from '../../favourites/favourites.ts';
import { requireRightClock } from '../../http/clock-gate.ts';
import { requireIndexes } from '../../http/database-gates.ts';
import { databaseTimeLeft } from '../../http/database-time.ts';
import { type Refusal, sendRefusal } from '../../http/http-errors.ts';
import { defineMessage, filled, t } from '../../language/t.ts';
import { MINUTE } from '../../platform/clock.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { serverAbove } from '../../ranking/server-above.ts';
import type { Server } from '../../servers/server.ts';
import { CastDeadline } from '../../votes/cast/cast-deadline.ts';
import { castVoteFromPage, challengeFor } from '../../votes/cast/cast-from-page.ts';
import { VoteResultUnknownError } from '../../votes/cast/insert-vote.ts';
import { causeOf } from '../../votes/exclusions/quarantine.ts';
import { readPlayerName } from '../../votes/identity/player-name.ts';
import { createProvenIds, type ProvenIds } from '../../votes/identity/proven-id.ts';
import { offersSteam } from '../../votes/identity/steam-players.ts';
import type { Vote } from '../../votes/vote.ts';
import { voteFigures } from '../../votes/vote-figures.ts';
import { voteStreak } from '../../votes/vote-streak.ts';
import { PageError } from '../error-pages.ts';
import { makeRefusedForm } from '../limited-pages.ts';
import { ANYONE, SIGNED_IN } from '../route-options.ts';
import { fieldText, readForm, type Typed } from '../shared/form.ts';
import { formRoute } from '../shared/form-route.ts';
import { sendPage } from '../shared/layout.ts';
import { isUnchanged, pageState, seenMark, sendUnchanged } from '../shared/live.ts';
import { publicPath } from '../shared/server-paths.ts';
import { throwIfUsedUp } from '../shared/used-up.ts';
import { wantsPage } from '../wants-page.ts';
import { readOtherServers } from './other-servers.ts';
import type { PublicParts } from './public-parts.ts';
import { followingRenames, serverByCurrentSlug, serverOfForm, slugOfRequest } from './server-of-path.ts';
import { steamRoutes } from './steam-routes.ts';
import { type VotePageView, voteFormPage } from './vote-form.ts';
import { steamRefusal } from './vote-identity.ts';
import { incomplete, resultUnknown, voteRefusal, wrongName } from './vote-refusals.ts';
import { voteReminder } from './vote-reminder.ts';
import { resultPage, type VoteState } from './vote-result.ts';
import { accountOf, ownNameOf, voterOf } from './voter.ts';

/** Each costs a key derivation and a query. A player may need several. */
const CHALLENGES = defineLimit({
  key: 'vote-challenge',
  what: 'Challenges of the vote form',
  of: 'network',
  times: 60,
  windowMs: MINUTE,
  sentence: filled(
    defineMessage(
      'Too many votes were started from your network. Try again in a minute, or sign in with an account that is older than {days} days.',
    ),
    { days: ESTABLISHED_AFTER_DAYS },
  ),
});

/** If a name in a link is longer than this, in UTF-16 code units, its end is ignored. */
const LONGEST_LINKED = 600;

/** A random secret that the form's script makes. A malformed value counts as empty. */
const session = z
  .string()
  .regex(/^[\w-]{16,64}$/)
  .catch('');
/** Any text: `readPlayerName` checks it by the rule of the server's game. */
const username = fieldText;
const challengeForm = z.object({ username, session });
const voteForm = z.object({
  username,
  proof: z.string().default(''),
  session,
  again: z.string().default(''),
});

/** After these refusals, the browser makes another proof and votes again, without asking the player. */
const SOLVED_AGAIN: Refusal['code'][] = ['proof-for-another-network', 'proof-expired'];

/** `/servers/<slug>/vote`: a server's vote form, and the page with the result of a vote. */
export function voteFormPages(app: FastifyInstance, parts: PublicParts): void {
  const { deps } = parts;
  const provenIds = createProvenIds(deps.config, deps.clock);
  const page = { deps, provenIds };
  formPage(app, page);
  challengeRoute(app, page);
  app.register(async (casting) => castingRoute(casting, { ...parts, provenIds }));
  steamRoutes(app, deps, provenIds);
  forgetNameRoute(app, deps);
  voteReminder(app, deps);
  voteResultPage(app, deps);
}

type FormParts = { deps: AppDeps; provenIds: ProvenIds };

function formPage(app: FastifyInstance, parts: FormParts): void {
  const { deps } = parts;
  app.get('/servers/:slug/vote', ANYONE, (request, reply) =>
    followingRenames(request, reply, async () => {
      await app.limitPages(request);
      const server = await serverByCurrentSlug(deps, slugOfRequest(request));
      const { username, steam } = request.query as Record<string, unknown>;
      const provenId = provenIdOf(parts, request, server);
      const ownName = username === undefined ? await ownNameOf(deps, request, server) : undefined;
      const given = username ?? ownName;
      const linked = typeof given === 'string' ? given.slice(0, LONGEST_LINKED) : '';
      // If the browser has a confirmed SteamID: a refusal in the address is not shown. It may come from a reload.
      const refused = provenId ? undefined : steamRefusal(steam);
      const typed = { values: { username: provenId ?? linked }, errors: refused ? { form: refused } : {} };
      return sendPage(request, reply, voteFormPage(app.site, await viewOf(parts, request, server, typed)));
    }),
  );
}

/** The data of the vote page. With a valid name, for example from a link, it contains the player's votes. */
async function viewOf(
  { deps, provenIds }: FormParts,
  request: FastifyRequest,
  server: WithId<Server>,
  { values, errors }: Typed,
): Promise<VotePageView> {
  const provenId = provenIdOf({ deps, provenIds }, request, server);
  const { username = '' } = values;
  const read = username === '' ? null : await readPlayerName(deps, server, username);
  const name = read && 'name' in read ? read.name : undefined;
  const [streak, others] = await Promise.all([
    name === undefined ? undefined : voteStreak(deps, server, name),
    readOtherServers(deps, request, server),
  ]);
  const wrong = read && 'error' in read ? { username: wrongName(read.error).sentence } : {};
  const typed = { values: { username: name ?? username }, errors: { ...wrong, ...errors } };
  return { server, typed, config: deps.config, account: accountOf(deps, request), provenId, streak, others };
}

/** The route that forgets the player name of the user's last vote, and shows the form without a name. */
function forgetNameRoute(app: FastifyInstance, deps: AppDeps): void {
  formRoute(app, {
    path: '/servers/:slug/vote/forget-name',
    access: SIGNED_IN,
    run: async ({ request, user }) => {
      const server = await serverOfForm(deps, request);
      await forgetUsername(deps, user._id);
      return `${app.site.base}${publicPath(server, '/vote?username=')}`;
    },
  });
}

/** The SteamID that Steam confirmed for the browser; null if there is none or the server's players have no SteamIDs. */
function provenIdOf(
  { deps, provenIds }: FormParts,
  { headers }: FastifyRequest,
  server: Server,
): string | null {
  return offersSteam(deps.config, server) ? provenIds.find(headers.cookie) : null;
}

/** An overloaded process refuses pages before votes. */
const VOTES = { ...ANYONE, config: { ...ANYONE.config, isOfVotes: true } } as const;

/** The route from which the form's script gets a challenge. */
function challengeRoute(app: FastifyInstance, parts: FormParts): void {
  const { deps } = parts;
  app.post('/servers/:slug/vote/challenge', VOTES, async (request, reply) => {
    const server = await serverOfForm(deps, request);
    const { data, typed } = readForm(challengeForm, request);
    if (!data) return sendRefusal(reply, incomplete(typed));
    await throwIfUsedUp(deps, CHALLENGES, request.ip);
    const read = await readPlayerName(deps, server, data.username);
    if ('error' in read) return sendRefusal(reply, wrongName(read.error));
    const provenId = provenIdOf(parts, request, server);
    const { session } = data;
    const vote = { server, username: read.name, voter: voterOf(deps, request), provenId, session };
    const made = await challengeFor(deps, vote);
    if (made.kind !== 'challenge') return sendRefusal(reply, voteRefusal(made, deps));
    return reply.header('cache-control', 'no-store').send(made.challenge);
  });
}

/** Casts the vote of a form. Its hooks refuse requests, so `app` must be a Fastify context without other routes. */
function castingRoute(app: FastifyInstance, parts: PublicParts & FormParts): void {
  const { deps, metrics } = parts;
  const { site } = app;
  // If indexes are missing, a vote could be counted twice (design rule 1). So votes are refused, as in the API.
  requireIndexes(app, deps);
  const options = { ...VOTES, preHandler: requireRightClock(deps) };
  app.post('/servers/:slug/vote', options, async (request, reply) => {
    const server = await serverOfForm(deps, request);
    const { data, typed } = readForm(voteForm, request);
    const refuse = async (refusal: Refusal) => {
      if (!wantsPage(request)) return sendRefusal(reply, refusal);
      // When the form is shown again, it has no proof, because a proof is valid for one vote.
      const named = { ...typed, values: { username: typed.values.username ?? '' } };
      const solvesAgain = SOLVED_AGAIN.includes(refusal.code) && data?.again === '';
      // If the name has an error, it is shown only at the field of the name.
      const shown = typed.errors.username ? {} : { form: refusal.sentence };
      const errors = solvesAgain ? {} : { ...typed.errors, ...shown };
      const page = await makeRefusedForm(request, async () => {
        const view = await viewOf(parts, request, server, { ...named, errors });
        return voteFormPage(site, { ...view, solvesAgain });
      });
      if (solvesAgain) return sendPage(request, reply, page);
      return sendPage(request, reply.headers(refusal.headers ?? {}), page, refusal.status);
    };
    if (!data) return refuse(incomplete(typed));
    const read = await readPlayerName(deps, server, data.username);
    if ('error' in read) {
      const refusal = wrongName(read.error);
      typed.errors.username = refusal.sentence;
      return refuse(refusal);
    }
    const voter = voterOf(deps, request);
    const { proof, session } = data;
    const provenId = provenIdOf(parts, request, server);
    const vote = { server, username: read.name, voter, provenId, proof, session };
    const deadline = new CastDeadline(databaseTimeLeft(request));
    const result = await castVoteFromPage(deps, vote, deadline).catch((error: unknown) => {
      if (!(error instanceof VoteResultUnknownError)) throw error;
      return null;
    });
    const serverId = server._id.toHexString();
    if (!result) {
      metrics.count('tallyport_votes_total', { result: 'unknown' });
      request.log.warn({ event: 'web_vote.result_unknown', serverId });
      return refuse(resultUnknown());
    }
    const counted = result.kind === 'accepted' ? 'accepted' : 'refused';
    metrics.count('tallyport_votes_total', { result: counted });
    const userId = request.signedIn?.user._id;
    if (userId && (result.kind === 'accepted' || result.kind === 'refused')) {
      // If the name cannot be stored: the player still gets the answer to the vote.
      await noteUsername(deps, userId, vote.username).catch((error: unknown) =>
        request.log.warn({ event: 'favourites.name_not_noted', reason: String(error) }),
      );
    }
    if (result.kind !== 'accepted') return refuse(voteRefusal(result, deps));
    const voteId = result.voteId.toString();
    request.log.info({ event: 'web_vote.accepted', serverId, voteId, isQuarantined: result.isQuarantined });
    return reply.redirect(`${site.base}${publicPath(server, `/vote/${voteId}`)}`, 303);
  });
}

function voteResultPage(app: FastifyInstance, deps: AppDeps): void {
  app.get('/servers/:slug/vote/:voteId', ANYONE, (request, reply) =>
    followingRenames(request, reply, async () => {
      const server = await serverByCurrentSlug(deps, slugOfRequest(request));
      const vote = await voteOf(deps, request, server);
      const shown = await readState(deps, server, vote);
      const seen = seenMark(request);
      if (seen && isUnchanged(seen, shown.state, shown.now)) return sendUnchanged(reply);
      // If htmx refreshes the live part, it uses only this part of the answer, so the rest is not read.
      const isPart = Boolean(request.headers['hx-request']);
      if (!isPart) await app.limitPages(request);
      const around = isPart ? null : await readAround(deps, request, server, vote);
      return sendPage(request, reply, resultPage(app.site, shown, around));
    }),
  );
}

async function readState(deps: AppDeps, server: WithId<Server>, vote: Vote): Promise<VoteState> {
  const now = deps.clock.now();
  const listener = await deps.listeners.findOne({ serverId: server._id });
  const [{ status }, votesOfMonth, written, heldFor, above] = await Promise.all([
    voteTimeline(deps, vote, listener, now),
    deps.voteCounts.ofMonth(server._id, now),
    voteFigures(deps, server._id),
    vote.quarantinedAt ? causeOf(deps, vote) : undefined,
    serverAbove(deps, server),
  ]);
  const monthlyVotes = votesOfMonth();
  // `monthlyVotes` also counts votes whose counters are not written yet, such as this vote; `written` does not.
  const votesCount = written.votesCount + Math.max(0, monthlyVotes - written.monthlyVotes);
  const ranking = [server.ranked?.rankVotes, server.rankPosition, votesCount, above];
  const state = pageState(status, vote.quarantinedAt, vote.excludedAt, vote.claim, monthlyVotes, ranking);
  return { server, vote, status, heldFor, monthlyVotes, votesCount, above, state, now };
}

async function readAround(deps: AppDeps, request: FastifyRequest, server: WithId<Server>, vote: Vote) {
  const [streak, others] = await Promise.all([
    voteStreak(deps, server, vote.username),
    readOtherServers(deps, request, server),
  ]);
  return { streak, others };
}

async function voteOf(deps: AppDeps, request: FastifyRequest, server: WithId<Server>): Promise<Vote> {
  const { voteId } = request.params as { voteId: string };
  const vote = UUID.isValid(voteId)
    ? await deps.votes.findOne({ _id: new UUID(voteId), serverId: server._id })
    : null;
  if (!vote) throw new PageError(404, t('This server has no such vote.'));
  return vote;
}
