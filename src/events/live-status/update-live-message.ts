import type { ObjectId, UpdateFilter } from 'mongodb';
import { after, DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts';
import { DURABLE } from '../../platform/mongo.ts';
import { retry } from '../../platform/retry.ts';
import { UnsealError } from '../../platform/secrets.ts';
import type { EventsDeps } from '../deps.ts';
import {
  type DiscordAnswer,
  deleteMessage,
  editMessage,
  postMessage,
  readMessage,
  readWebhook,
} from '../discord/discord-client.ts';
import type { WebhookKey } from '../discord/webhook-address.ts';
import { isToBeLookedFor } from './due-live-messages.ts';
import { firstBody, type LiveSource, liveContent, readLiveSources, seenOf } from './live-content.ts';
import type { LiveMessage, StopReason } from './live-message.ts';
import { addRemoved, openLiveWebhook } from './live-messages.ts';
import { mailStopped } from './mail-stopped.ts';

/** Discord allows more; readers see no difference. */
const EDITED_EVERY_MS = MINUTE;

const SCHEDULE = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR];

/** Each post without a known result may leave one message in the channel. */
const MOST_POSTS = 5;

/** Then a message that its owner removed stays in Discord. */
const DELETED_WITHIN_MS = DAY;

/** While MongoDB does not answer. Later another run may have begun. */
const STORED_WITHIN_MS = 30 * SECOND;

/** Longer than the requests of a run may take. */
const LEASE_MS = 2 * MINUTE;

/** `again`: a run is due then. */
export type LiveUpdate = {
  end: 'not-due' | 'edited' | 'unchanged' | 'deleted' | 'stopped' | 'failed' | 'limited' | 'overtaken';
  again?: Date;
};

type Run = { deps: EventsDeps; live: LiveMessage; key: WebhookKey; signal: AbortSignal };

/**
 * Posts the message, edits it if its content has changed, or deletes it if the owner has removed it. A repeated or
 * interrupted run continues: the id is stored as soon as Discord has answered, and an edit can be repeated.
 */
export async function updateLiveMessage(
  deps: EventsDeps,
  _id: ObjectId,
  signal: AbortSignal,
): Promise<LiveUpdate> {
  const live = await take(deps, _id);
  if (!live) {
    const waiting = await deps.liveMessages.findOne({ _id }, { projection: { nextAt: 1 } });
    return { end: 'not-due', ...(waiting?.nextAt ? { again: waiting.nextAt } : {}) };
  }
  let key: WebhookKey;
  try {
    key = openLiveWebhook(deps.secrets, live);
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error;
    return live.removedAt ? forget(deps, live) : stop(deps, live, 'unreadable');
  }
  const run = { deps, live, key, signal };
  const source = (await readLiveSources(deps, [live.serverId])).get(live.serverId.toHexString());
  return live.removedAt || !source ? takeDown(run) : show(run, source);
}

function take({ liveMessages, clock }: EventsDeps, _id: ObjectId): Promise<LiveMessage | null> {
  return liveMessages.findOneAndUpdate(
    {
      _id,
      nextAt: { $lte: clock.now() },
      $expr: { $lte: [{ $ifNull: ['$leaseUntil', new Date(0)] }, '$$NOW'] },
    },
    [{ $set: { runs: { $add: ['$runs', 1] }, leaseUntil: { $add: ['$$NOW', LEASE_MS] } } }],
    { returnDocument: 'after', writeConcern: DURABLE },
  );
}

/** Calls itself once if the message was deleted in Discord: then a new one is posted. */
async function show(run: Run, source: LiveSource): Promise<LiveUpdate> {
  const { deps, live, key, signal } = run;
  const now = deps.clock.now();
  const { body, hash } = await liveContent(deps, source, now);
  const seen = seenOf(source, now);
  const messageId = live.messageId ?? (await make(run, source));
  if (typeof messageId !== 'string') return messageId;
  const isShown = live.messageId !== undefined && hash === live.shown;
  if (isShown && !isToBeLookedFor(live, now)) {
    await record(deps, live, { $set: { seen, failures: 0 }, $unset: { lastReason: '' } });
    return { end: 'unchanged' };
  }
  const answer = isShown
    ? await readMessage(deps, key, messageId, signal)
    : await editMessage(deps, key, messageId, body, signal);
  if (answer.kind === 'no-message') {
    if (!live.messageId) return failed(run, 'deleted at once');
    deps.log.info({ event: 'live.lost', serverId: live.serverId.toHexString() });
    const own = { _id: live._id, runs: live.runs };
    const { matchedCount } = await deps.liveMessages.updateOne(own, { $unset: { messageId: '', shown: '' } });
    if (matchedCount === 0) return { end: 'overtaken' };
    const { messageId: _, ...lost } = live;
    return show({ ...run, live: lost }, source);
  }
  if (answer.kind !== 'sent') return without(run, answer);
  const edited = isShown ? {} : { shown: hash, editedAt: now };
  const stored = await record(deps, live, {
    $set: { seen, ...edited, askedAt: now, nextAt: after(now, EDITED_EVERY_MS), failures: 0 },
    $unset: { lastReason: '' },
  });
  if (!stored) return { end: 'overtaken' };
  return { end: isShown ? 'unchanged' : 'edited' };
}

/**
 * Posts a message that says nothing about the state, and returns its id. Discord neither knows a webhook's repeated
 * post (it ignores a nonce) nor lists its messages: if the process dies before the id is stored, this message stays.
 */
async function make(run: Run, source: LiveSource): Promise<string | LiveUpdate> {
  const { deps, live, key, signal } = run;
  if (live.posts >= MOST_POSTS) return stop(deps, live, 'unconfirmed');
  const read = await readWebhook(deps, key, signal);
  if (read.kind !== 'sent') return without(run, read);
  const webhookName = typeof read.answer.name === 'string' ? read.answer.name.slice(0, 80) : undefined;
  const own = { _id: live._id, runs: live.runs };
  const { matchedCount } = await deps.liveMessages.updateOne(
    { ...own, isCurrent: true },
    { $inc: { posts: 1 }, ...(webhookName ? { $set: { webhookName } } : {}) },
    { writeConcern: DURABLE },
  );
  if (matchedCount === 0) return overtaken(run);
  const answer = await postMessage(deps, key, firstBody(deps.config, source.server), signal, {
    readsAnswer: true,
  });
  const id = answer.kind === 'sent' ? answer.answer.id : undefined;
  if (typeof id === 'string' && /^\d{1,25}$/.test(id)) return keepId(run, id);
  if (answer.kind === 'sent') return failed(run, 'an answer without an id');
  const isUnknown = answer.kind === 'unavailable' && answer.mayHaveArrived;
  if (!isUnknown) await deps.liveMessages.updateOne(own, { $inc: { posts: -1 } });
  return without(run, answer);
}

/** If another run has begun meanwhile, it knows nothing of this message: that is deleted as if the owner removed it. */
async function keepId(run: Run, messageId: string): Promise<string | LiveUpdate> {
  const { deps, live, key } = run;
  const store = () =>
    deps.liveMessages.updateOne(
      { _id: live._id, runs: live.runs },
      { $set: { messageId, posts: 0 } },
      { writeConcern: DURABLE },
    );
  const until = performance.now() + STORED_WITHIN_MS;
  const { matchedCount } = await retry(store, { deadline: () => until });
  if (matchedCount > 0) {
    deps.log.info({ event: 'live.posted', serverId: live.serverId.toHexString() });
    return messageId;
  }
  await addRemoved(deps, live, key, messageId);
  return { end: 'overtaken' };
}

/** The owner removed it before anything was posted: the next run does the rest. */
async function overtaken({ deps, live }: Run): Promise<LiveUpdate> {
  await record(deps, live, {});
  return { end: 'overtaken', again: deps.clock.now() };
}

/** Deletes the message in Discord, and then the document. */
async function takeDown(run: Run): Promise<LiveUpdate> {
  const { deps, live, key, signal } = run;
  if (!live.messageId) return forget(deps, live);
  const answer = await deleteMessage(deps, key, live.messageId, signal);
  const now = deps.clock.now().getTime();
  const isLate = live.removedAt && now - live.removedAt.getTime() > DELETED_WITHIN_MS;
  switch (answer.kind) {
    case 'limited':
    case 'unavailable':
    case 'blocked':
      if (!isLate) return without(run, answer);
      deps.log.warn({
        event: 'live.not_deleted',
        serverId: live.serverId.toHexString(),
        reason: answer.kind,
      });
      return forget(deps, live);
    // Discord has no such message, or takes nothing for this webhook any more.
    default:
      return forget(deps, live);
  }
}

async function forget({ liveMessages, log }: EventsDeps, live: LiveMessage): Promise<LiveUpdate> {
  await liveMessages.deleteOne({ _id: live._id });
  log.info({ event: 'live.removed', serverId: live.serverId.toHexString() });
  return { end: 'deleted' };
}

/** Discord did not do what it was asked to. */
async function without(run: Run, answer: Exclude<DiscordAnswer, { kind: 'sent' }>): Promise<LiveUpdate> {
  const { deps, live, signal } = run;
  switch (answer.kind) {
    case 'limited': {
      const again = after(deps.clock.now(), answer.retryAfterMs);
      await record(deps, live, { $set: { nextAt: again } });
      return { end: 'limited', again };
    }
    case 'blocked':
      return failed(run, 'address-refused');
    case 'no-message':
      return failed(run, 'the message is gone');
    case 'refused':
      return failed(run, answer.reason);
    case 'unavailable': {
      if (!signal.aborted) return failed(run, answer.reason);
      await record(deps, live, {});
      return { end: 'failed' };
    }
    default:
      return stop(deps, live, answer.kind);
  }
}

async function failed({ deps, live }: Run, reason: string): Promise<LiveUpdate> {
  const nextAt = after(deps.clock.now(), SCHEDULE[Math.min(live.failures, SCHEDULE.length - 1)] ?? HOUR);
  await record(deps, live, { $set: { nextAt, failures: live.failures + 1, lastReason: reason } });
  deps.log.warn({ event: 'live.failed', serverId: live.serverId.toHexString(), reason });
  return { end: 'failed' };
}

/** If the process dies between the two steps, the next run repeats both, and the mail's id prevents a second mail. */
async function stop(deps: EventsDeps, live: LiveMessage, reason: StopReason): Promise<LiveUpdate> {
  await mailStopped(deps, live, reason);
  await record(deps, live, {
    $set: { stopped: { at: deps.clock.now(), reason } },
    $unset: { nextAt: '' },
  });
  deps.log.info({ event: 'live.stopped', serverId: live.serverId.toHexString(), reason });
  return { end: 'stopped' };
}

/**
 * Ends the run. If the owner has removed it meanwhile, it is due at once. If another run has begun meanwhile, it is not
 * known whose edit Discord shows: the next run edits again.
 */
async function record(
  { liveMessages, clock }: EventsDeps,
  { _id, runs, removedAt }: LiveMessage,
  { $set = {}, $unset = {} }: Pick<UpdateFilter<LiveMessage>, '$set' | '$unset'>,
): Promise<boolean> {
  const own = { _id, runs };
  const update = { $set, $unset: { ...$unset, leaseUntil: '' as const } };
  const asKnown = removedAt ? own : { ...own, isCurrent: true };
  if ((await liveMessages.updateOne(asKnown, update, { writeConcern: DURABLE })).matchedCount > 0)
    return true;
  const removed = { $set: { nextAt: clock.now() }, $unset: { leaseUntil: '' as const } };
  if ((await liveMessages.updateOne(own, removed)).matchedCount > 0) return true;
  await liveMessages.updateOne({ _id }, { $unset: { seen: '', shown: '' } });
  return false;
}
