import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { z } from 'zod';
import { ESTABLISHED_AFTER_DAYS } from '../../accounts/mailbox.ts';
import { forgetUsername, noteUsername } from '../../favourites/favourites.ts';
import { requireRightClock } from '../../http/clock-gate.ts';
import { requireIndexes } from '../../http/database-gates.ts';
import { databaseTimeLeft } from '../../http/database-time.ts';
import { type Refusal, sendRefusal } from '../../http/http-errors.ts';
import { noteResult } from '../../http/requests.ts';
import { defineMessage, filled } from '../../language/t.ts';
import { MINUTE } from '../../platform/clock.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Metrics } from '../../process/metrics.ts';
import { noteVoteOf } from '../../reminders/keep-mail-reminder.ts';
import type { Server } from '../../servers/server.ts';
import { CastDeadline } from '../../votes/cast/cast-deadline.ts';
import { castVoteFromPage, challengeFor } from '../../votes/cast/cast-from-page.ts';
import { VoteResultUnknownError } from '../../votes/cast/insert-vote.ts';
import { readPlayerName } from '../../votes/identity/player-name.ts';
import { createProvenIds } from '../../votes/identity/proven-id.ts';
import { voteStreak } from '../../votes/vote-streak.ts';
import { makeRefusedForm } from '../limited-pages.ts';
import { ANYONE, SIGNED_IN } from '../route-options.ts';
import { fieldText, readForm, type Typed } from '../shared/form.ts';
import { formRoute } from '../shared/form-route.ts';
import { sendPage } from '../shared/layout.ts';
import { publicPath } from '../shared/server-paths.ts';
import { throwIfUsedUp } from '../shared/used-up.ts';
import { wantsPage } from '../wants-page.ts';
import { readOtherServers } from './other-servers.ts';
import { followingRenames, serverByCurrentSlug, serverOfForm, slugOfRequest } from './server-of-path.ts';
import { type VotePageView, voteFormPage } from './vote-form.ts';
import {
  accountOf,
  type FormParts,
  ownNameOf,
  provenIdOf,
  steamRefusal,
  steamRoutes,
  voterOf,
} from './vote-identity.ts';
import { incomplete, resultUnknown, voteRefusal, wrongName } from './vote-refusals.ts';
import { voteReminder } from './vote-reminder.ts';
import { voteResultPage } from './vote-result.ts';

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

/** In UTF-16 code units. The end of a longer name in a link is ignored. */
const LONGEST_LINKED = 600;

/** A random secret that the form's script makes. A malformed value counts as empty. */
const session = z
  .string()
  .regex(/^[\w-]{16,64}$/)
  .catch('');
/** `readPlayerName` checks it by the rule of the server's game. */
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

/** A server's vote form, the routes of its scripts, and the page with the result of a vote. */
export function votePages(app: FastifyInstance, deps: AppDeps, metrics: Metrics): void {
  const provenIds = createProvenIds(deps.config, deps.clock);
  const parts = { deps, provenIds };
  formPage(app, parts);
  challengeRoute(app, parts);
  app.register(async (casting) => castingRoute(casting, { ...parts, metrics }));
  steamRoutes(app, deps, provenIds);
  forgetNameRoute(app, deps);
  voteReminder(app, deps);
  voteResultPage(app, deps);
}

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

/** With a valid name, for example from a link, it contains the player's votes. */
async function viewOf(
  parts: FormParts,
  request: FastifyRequest,
  server: WithId<Server>,
  { values, errors }: Typed,
): Promise<VotePageView> {
  const { deps } = parts;
  const provenId = provenIdOf(parts, request, server);
  const { username = '' } = values;
  const read = username === '' ? null : await readPlayerName(deps, server, username);
  const name = read && 'name' in read ? read.name : undefined;
  const [streak, others] = await Promise.all([
    name === undefined ? undefined : voteStreak(deps, server, name),
    readOtherServers(deps, request, server),
  ]);
  const wrong = read && 'error' in read ? { username: wrongName(read.error).sentence } : {};
  const typed = { values: { username: name ?? username }, errors: { ...wrong, ...errors } };
  const account = accountOf(deps, request);
  return { server, typed, config: deps.config, account, provenId, streak, others, now: deps.clock.now() };
}

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

/** An overloaded process refuses pages before votes. */
const VOTES = { ...ANYONE, config: { ...ANYONE.config, isOfVotes: true } } as const;

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

/** Its hooks refuse requests, so `app` must be a Fastify context without other routes. */
function castingRoute(app: FastifyInstance, parts: FormParts & { metrics: Metrics }): void {
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
      // The player does not wait for it. If it fails, the next vote moves the reminder.
      if (result.kind === 'accepted')
        noteVoteOf(deps, userId, result.voteId).catch((error: unknown) =>
          request.log.warn({ event: 'reminder.not_set', reason: String(error) }),
        );
    }
    if (result.kind !== 'accepted') return refuse(voteRefusal(result, deps));
    const voteId = result.voteId.toString();
    const { isQuarantined } = result;
    noteResult(request, reply, { event: 'web_vote.accepted', serverId, voteId, isQuarantined });
    return reply.redirect(`${site.base}${publicPath(server, `/vote/${voteId}`)}`, 303);
  });
}
