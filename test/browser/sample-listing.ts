import { ObjectId, type UUID } from 'mongodb';
import { makePasswordLink } from '../../src/accounts/make-link.ts';
import { hashOneTimeToken } from '../../src/accounts/one-time-token.ts';
import { ensureUser, suspendUser } from '../../src/accounts/users.ts';
import { setListener } from '../../src/delivery/change-listener.ts';
import { SampleGameServer } from '../../src/demo/game-server.ts';
import { writeSampleProfile } from '../../src/demo/list-samples.ts';
import { samplePlayersAt } from '../../src/demo/sample-days.ts';
import { countToday, writeSampleHistory } from '../../src/demo/sample-history.ts';
import { sampleIcon } from '../../src/demo/sample-pictures.ts';
import { openSampleUsers, type SampleUsers } from '../../src/demo/sample-users.ts';
import { SAMPLES, type Sample } from '../../src/demo/samples.ts';
import { VotifierListener } from '../../src/demo/votifier-listener.ts';
import { addFavourite, noteUsername } from '../../src/favourites/favourites.ts';
import { type OutcomeCode, outcome } from '../../src/listeners/outcomes.ts';
import { after, DAY, HOUR, MINUTE } from '../../src/platform/clock.ts';
import { createAsk } from '../../src/probing/ask-server.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { answerReview } from '../../src/reviews/answer-review.ts';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { saveOwnReview } from '../../src/reviews/own-review.ts';
import { type NewReview, writeReview } from '../../src/reviews/write-review.ts';
import { issueToken, revokeToken } from '../../src/servers/api-tokens.ts';
import { saveDraft } from '../../src/servers/drafts.ts';
import { hideServer } from '../../src/servers/moderate-server.ts';
import { requestRanks } from '../../src/servers/request-ranks.ts';
import { setHowToVote } from '../../src/servers/vote-options.ts';
import { changeSettings } from '../../src/settings/change-settings.ts';
import { addBlock, liftBlock } from '../../src/votes/blocks/change-blocks.ts';
import { requestExclusion } from '../../src/votes/exclusions/request-exclusion.ts';
import { countFigures } from '../../src/workflows/figures/count-figures.ts';
import { proveDraft } from '../../src/workflows/prove-draft.ts';
import { castVote } from '../support/casting.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { addSampleEvents } from './sample-events.ts';
import { fillInbox } from './sample-inbox.ts';

/** Typical names: short, very long, and right-to-left. */
const NAMES = {
  harbour: 'Harbour Lights',
  long: 'The Extraordinarily Long-Named Kingdom of Northern Harbours and Lesser Islands, Season 12 Hardcore',
  rightToLeft: 'مملكة البحر والجزر',
  quiet: 'Quiet Cove',
};

const [HARBOUR] = SAMPLES as [Sample];

/** A listing with data, and the ids that its pages need. */
export type SampleListing = {
  users: SampleUsers;
  ownerId: ObjectId;
  draftId: ObjectId;
  /** A server with everything: history, votes in every state, tokens, reviews. */
  harbour: ObjectId;
  /** A server whose listener refuses connections; votes wait. */
  long: ObjectId;
  /** A server whose listener is paused because of a wrong token. */
  rightToLeft: ObjectId;
  /** A server without data. */
  quiet: ObjectId;
  /** The slugs of these four servers. */
  slugs: Record<keyof typeof NAMES, string>;
  listenerId: ObjectId;
  subscriptionId: ObjectId;
  voteId: UUID;
  /** The path of a link to set a password. */
  passwordPath: string;
};

/**
 * Fills a running listing with data of about a month.
 *
 * @returns the ids of the data, and a function that stops the game server and the listener
 */
export async function fillListing(
  deps: AppDeps,
): Promise<{ listing: SampleListing; close(): Promise<void> }> {
  const icon = await sampleIcon(HARBOUR.name);
  const game = new SampleGameServer(() => ({
    motd: HARBOUR.motd,
    version: HARBOUR.version,
    online: samplePlayersAt(HARBOUR, new Date()),
    max: HARBOUR.activity.slots,
    icon,
  }));
  const listener = new VotifierListener();
  await Promise.all([game.start(), listener.start()]);
  const close = async () => {
    await Promise.all([game.stop(), listener.stop()]);
  };
  try {
    return { listing: await fill(deps, game, listener), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function fill(
  deps: AppDeps,
  game: SampleGameServer,
  listener: VotifierListener,
): Promise<SampleListing> {
  const add = (name: string, port: number) =>
    addOwnedServer(deps, new ObjectId(), { name, address: '127.0.0.1', port, game: 'minecraft' });
  const harbour = await add(NAMES.harbour, game.port);
  const long = await add(NAMES.long, 25_566);
  const rightToLeft = await add(NAMES.rightToLeft, 25_567);
  const quiet = await add(NAMES.quiet, 25_568);
  const users = await openSampleUsers(deps, [harbour]);
  const { _id: ownerId } = (await deps.users.findOne({ email: users.owner.email })) ?? {};
  if (!ownerId) throw new Error('the owner is not there');
  await deps.servers.updateMany({ _id: { $in: [long, rightToLeft, quiet] } }, { $set: { ownerId } });
  const past = [{ serverId: harbour, sample: HARBOUR }];
  await writeSampleHistory(deps, past);
  await countToday(deps, past);
  await addReviews(deps, harbour);
  const tokenId = await addTokens(deps, harbour);
  const draftId = await addDraft(deps, { _id: ownerId, email: users.owner.email }, game.port);
  await setHowToVote(
    deps,
    harbour,
    'Vote once a day and get a lantern.\nType /vote in the game for the links.',
    users.owner.email,
  );
  await writeSampleProfile(deps, harbour, HARBOUR, users.owner.email);
  await changeSettings(deps, { SIGN_UPS_PER_NETWORK: '20' }, 'admin@example.org');
  await decide(deps, { quiet, harbour, tokenId, by: users.operator.email });

  const running = { protocol: 'votifier-v2', host: '127.0.0.1', serviceName: 'Tallyport' } as const;
  const { port, token: secret } = listener;
  await setListener(deps, harbour, { ...running, port, secret }, users.owner.email);
  await setListener(deps, long, { ...running, port: await refusedPort(), secret }, users.owner.email);
  await setListener(deps, rightToLeft, { ...running, port, secret: 'not-the-token-0123' }, users.owner.email);
  await addToAccounts(deps, users, { harbour, long });
  await fillInbox(deps, { harbour, long, rightToLeft });
  const voteId = await addVotes(deps, { harbour, long, rightToLeft, tokenId });
  await requestRanks(deps.producer);
  await countFigures(deps, async () => ({
    votes: { under_1m: 3, over_24h: 1 },
    queues: { 'forward-votes': 95 },
  }));
  const set = await deps.listeners.findOne({ serverId: long });
  if (!set) throw new Error('the listener is not there');
  return {
    users,
    ownerId,
    draftId,
    harbour,
    long,
    rightToLeft,
    quiet,
    slugs: await slugsOf(deps, { harbour, long, rightToLeft, quiet }),
    listenerId: set._id,
    subscriptionId: await addSampleEvents(deps, harbour, users.owner.email),
    voteId,
    passwordPath: await addUsers(deps),
  };
}

/**
 * Adds favourites and reviews of the owner; and for the operator's account a requested change of address and a
 * requested deletion.
 */
async function addToAccounts(
  deps: AppDeps,
  { owner, operator }: SampleUsers,
  { harbour, long }: Record<'harbour' | 'long', ObjectId>,
): Promise<void> {
  const idOf = async (email: string) => (await deps.users.findOne({ email }))?._id ?? new ObjectId();
  const [ownerId, operatorId] = [await idOf(owner.email), await idOf(operator.email)];
  await noteUsername(deps, ownerId, 'Steve');
  for (const serverId of [harbour, long, new ObjectId()]) await addFavourite(deps, ownerId, serverId);
  for (const serverId of [long, new ObjectId()]) {
    const review = { username: 'Steve', rating: 4, content: 'Friendly, and the map is large.' };
    await saveOwnReview(deps, { serverId, userId: ownerId }, review);
  }
  const now = deps.clock.now();
  const ids = { _id: operatorId, requestedAt: now };
  await deps.accountDeletions.insertOne({
    ...ids,
    deletionId: new ObjectId(),
    dueAt: after(now, 7 * DAY),
    token: hashOneTimeToken('keep'),
  });
  await deps.addressChanges.insertOne({
    ...ids,
    changeId: new ObjectId(),
    from: operator.email,
    to: 'olga.with-a-very-long-address@mail.northern-harbours.example.org',
    oldToken: hashOneTimeToken('old'),
    newToken: hashOneTimeToken('new'),
    sessionId: new ObjectId(),
    newConfirmedAt: now,
    expiresAt: after(now, DAY),
  });
}

async function slugsOf(
  { servers }: AppDeps,
  ids: Record<keyof typeof NAMES, ObjectId>,
): Promise<SampleListing['slugs']> {
  const entries = Object.entries(ids).map(async ([which, _id]) => [
    which,
    (await servers.findOne({ _id }))?.slug ?? '',
  ]);
  return Object.fromEntries(await Promise.all(entries));
}

/** Returns a port on which nothing listens: it was just released. */
async function refusedPort(): Promise<number> {
  const gone = new VotifierListener();
  await gone.start();
  const { port } = gone;
  await gone.stop();
  return port;
}

/** Adds more users. One of them has a link to set a password; its path is returned. */
async function addUsers(deps: AppDeps): Promise<string> {
  const who = { userId: null, by: 'sample' };
  await ensureUser(deps, { email: 'noor@example.org', name: 'نور الهاشمي' });
  const { user } = await ensureUser(deps, {
    email: 'a.very.long.address.of.somebody.who.owns.many.servers@subdomain.example.org',
    name: 'Maximiliane von Hohenstein-Wittelsbach zu Neustadt',
  });
  await suspendUser(deps, user._id, { reason: 'Votes were bought.' }, who);
  const link = new URL(await makePasswordLink(deps, { email: 'noor@example.org' }));
  return `${link.pathname}${link.search}`;
}

async function addReviews(deps: AppDeps, serverId: ObjectId): Promise<void> {
  const write = (review: NewReview) => writeReview(deps, { serverId, ...review });
  const praise = await write({ username: 'Steve', rating: 5, content: 'Kind people, and it is never away.' });
  const arabic = await write({ username: 'سمير', rating: 4, content: 'خادم ممتاز والمجتمع ودود.' });
  const rejected = await write({ username: 'Grumbler', rating: 1, content: 'Join my own server instead!' });
  await write({ username: 'Alex', rating: 3 });
  await write({
    username: 'A_Player_With_A_Name_Of_Fifty_Characters_Precisely',
    rating: 2,
    content: `The harbour was rebuilt twice and my house is gone.\n\n${'So many steps, so little rope. '.repeat(9)}`,
  });
  for (const { reviewId } of [praise, arabic])
    await moderateReview(deps, new ObjectId(reviewId), 'approved', 'operator@example.org');
  const reason = 'It advertises another server.';
  await moderateReview(deps, new ObjectId(rejected.reviewId), 'rejected', 'operator@example.org', {
    reason,
  });
  const answer = 'Thank you, Steve. The new lighthouse opens on Saturday.';
  await answerReview(
    deps,
    { serverId, reviewId: new ObjectId(praise.reviewId), answer },
    'owner@example.org',
  );
}

async function addTokens(deps: AppDeps, serverId: ObjectId): Promise<ObjectId> {
  const { tokenId } = await issueToken(deps, { serverId, name: 'website' });
  await issueToken(deps, { serverId, name: 'plugin on the survival world', expiresInMs: 5 * DAY });
  const old = await issueToken(deps, { serverId, name: 'old website' });
  await revokeToken(deps, serverId, new ObjectId(old.tokenId));
  return new ObjectId(tokenId);
}

/** Adds a draft whose server answers and whose ownership is not proven. */
async function addDraft(
  deps: AppDeps,
  owner: { _id: ObjectId; email: string },
  port: number,
): Promise<ObjectId> {
  const address = { address: 'localhost', port, game: 'minecraft' };
  const draft = await saveDraft(deps, owner._id, { name: 'Lighthouse Creative', ...address });
  if (!draft) throw new Error('the draft was not kept');
  await proveDraft({ ...deps, ask: createAsk(deps.config) }, owner, draft._id);
  return draft._id;
}

/** Adds decisions of an operator: a hidden server and excluded votes. */
async function decide(
  deps: AppDeps,
  { harbour, tokenId, by }: { quiet: ObjectId; harbour: ObjectId; tokenId: ObjectId; by: string },
): Promise<void> {
  const copy = { name: 'Harbour Lights (copy)', address: 'copy.example.org', port: 25_565 };
  const hidden = await addOwnedServer(deps, new ObjectId(), copy);
  await hideServer(deps, hidden, { reason: 'It uses the name of another server.' }, by);
  const named = { kind: 'name', value: 'Herobrine', reason: 'Sells votes in chats.' };
  const { _id: lifted } = await addBlock(deps, named, by);
  await liftBlock(deps, lifted, by);
  const machines = {
    kind: 'network',
    value: '2001:db8:7a3::/48',
    reason: 'Rented machines that vote all night.',
  };
  await addBlock(deps, { ...machines, endsAt: new Date('2999-01-01') }, by);
  const now = deps.clock.now();
  const range = { serverId: harbour, since: after(now, -3 * DAY), until: after(now, -2 * DAY) };
  const reason = 'One address cast most of them.';
  await requestExclusion(deps, new ObjectId(), { ...range, tokenId: null, reason }, by);
  const few = { serverId: harbour, since: after(now, -DAY), until: after(now, -20 * HOUR), tokenId };
  await requestExclusion(deps, new ObjectId(), { ...few, reason: 'A test of the new website.' }, by);
}

const PLAYERS = ['Steve', 'Alex', 'Efe', 'سمير', 'Sunny', 'Zuri', 'Makena', 'Kai', 'Noor', 'Ari'];

/** Adds votes of today: one failed, one unconfirmed; the workers deliver the others. */
async function addVotes(
  deps: AppDeps,
  of: Record<'harbour' | 'long' | 'rightToLeft' | 'tokenId', ObjectId>,
): Promise<UUID> {
  const { harbour, long, rightToLeft, tokenId } = of;
  const cast = async (serverId: ObjectId, username: string) => {
    const { vote } = await castVote(deps, { serverId, username, tokenId });
    return vote._id;
  };
  const ids: UUID[] = [];
  for (const player of PLAYERS) ids.push(await cast(harbour, player));
  for (const player of PLAYERS.slice(0, 4)) await cast(long, player);
  for (const player of PLAYERS.slice(0, 2)) await cast(rightToLeft, player);
  const [first, second] = ids as [UUID, UUID];
  await untilDelivered(deps, harbour);
  const end = (voteId: UUID, state: 'failed' | 'unconfirmed', code: OutcomeCode) => {
    const { class: kind } = outcome(code, 'written');
    const attempt = { 'delivery.attempts.0.code': code, 'delivery.attempts.0.class': kind };
    const counts = { 'delivery.ends': { [kind]: 1 }, 'delivery.codes': { [code]: 1 } };
    return deps.votes.updateOne(
      { serverId: harbour, _id: voteId },
      { $set: { 'delivery.state': state, ...attempt, ...counts }, $unset: { 'delivery.deliveredAt': '' } },
    );
  };
  await end(first, 'failed', 'vote-refused');
  await end(second, 'unconfirmed', 'no-answer');
  return ids[2] as UUID;
}

async function untilDelivered({ votes }: AppDeps, serverId: ObjectId): Promise<void> {
  const deadline = Date.now() + MINUTE;
  const open = { serverId, 'delivery.state': { $in: ['waiting', 'sending'] as const } };
  while (await votes.findOne(open as never)) {
    if (Date.now() > deadline) throw new Error('the votes did not arrive within a minute');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
