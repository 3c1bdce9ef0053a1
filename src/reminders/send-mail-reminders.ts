import type { ObjectId } from 'mongodb';
import { canBeMailed } from '../accounts/can-be-mailed.ts';
import { inLanguageOfUser } from '../accounts/mail-language.ts';
import { t } from '../language/t.ts';
import { putMail } from '../mail/outbox.ts';
import { SECOND } from '../platform/clock.ts';
import type { Server } from '../servers/server.ts';
import type { RemindersDeps } from './deps.ts';
import { mailDueAt, stopMailReminder } from './keep-mail-reminder.ts';
import type { MailReminder } from './mail-reminder.ts';
import { dueOf, type NextVote, readNextVotes } from './next-votes.ts';
import { dueUntil, type ReminderEnd } from './reminder.ts';

const AT_ONCE = 20;

/** The next minute's run goes on. */
const LONGEST_RUN_MS = 30 * SECOND;

/**
 * Writes due mails, all if they take less than 30 s. A mail's id is made of the user and the time at which it was due,
 * so runs at once, or one that dies before it notes what it wrote, send it once.
 */
export async function sendMailReminders(deps: RemindersDeps, signal: AbortSignal): Promise<ReminderEnd[]> {
  const { mailReminders, clock } = deps;
  const ends: ReminderEnd[] = [];
  const failed: ObjectId[] = [];
  const until = performance.now() + LONGEST_RUN_MS;
  while (!signal.aborted && performance.now() < until) {
    const due = await mailReminders
      .find({ dueAt: dueUntil(clock.now()), _id: { $nin: failed } })
      .sort({ dueAt: 1 })
      .limit(AT_ONCE)
      .toArray();
    if (due.length === 0) break;
    const tried = await Promise.allSettled(due.map((reminder) => remind(deps, reminder)));
    for (const [n, one] of tried.entries()) {
      const userId = due[n]?._id;
      if (one.status === 'fulfilled') ends.push(one.value);
      else if (userId) {
        failed.push(userId);
        deps.log.warn({
          event: 'reminder.not_mailed',
          userId: userId.toHexString(),
          reason: String(one.reason),
        });
      }
    }
  }
  return ends;
}

async function remind(deps: RemindersDeps, reminder: MailReminder): Promise<ReminderEnd> {
  const { config, clock, mailReminders, users } = deps;
  const { _id, dueAt, votes, usedAt, sentAt } = reminder;
  const now = clock.now();
  // If the user votes meanwhile, the new time stays.
  const settle = (fields: Partial<MailReminder>) =>
    mailReminders.updateOne({ _id, dueAt: dueAt ?? null }, { $set: fields });
  const user = await users.findOne({ _id });
  if (!user) {
    await stopMailReminder(deps, { _id });
    return 'gone';
  }
  if (user.suspendedAt || !canBeMailed(config, user)) {
    await settle({ dueAt: null });
    return 'refused';
  }
  const nextVotes = await readNextVotes(deps, votes);
  const possible = dueOf(nextVotes, usedAt, now);
  if (possible.length === 0) {
    await settle({ dueAt: mailDueAt(nextVotes, sentAt, now) });
    return 'voted';
  }
  const servers = await serversOf(deps, possible);
  const text = inLanguageOfUser(config, user, () => textAbout(config, servers, reminder));
  const id = `vote-reminder:${_id.toHexString()}:${dueAt?.toISOString()}`;
  // Before the mail, so that a vote meanwhile, or a crash, does not bring a second one within a day.
  await mailReminders.updateOne({ _id }, { $max: { sentAt: now } });
  await putMail(deps, { id, to: user.email, ...text });
  await settle({ dueAt: null });
  return 'sent';
}

type Named = Pick<Server, 'name' | 'slug'>;

function serversOf({ servers }: RemindersDeps, possible: NextVote[]): Promise<Named[]> {
  const ids = possible.map(({ serverId }) => serverId);
  return servers
    .find({ _id: { $in: ids } }, { projection: { name: 1, slug: 1 } })
    .sort({ name: 1 })
    .toArray();
}

function textAbout(
  { PUBLIC_URL, SERVICE_NAME }: RemindersDeps['config'],
  servers: Named[],
  { stopToken }: MailReminder,
) {
  const stopUrl = `${PUBLIC_URL}/reminders/stop-mail/${stopToken}`;
  const list = servers.map(({ name, slug }) => `${name}\n${PUBLIC_URL}/servers/${slug}/vote`);
  const stop = t('You get this mail at most once a day, because you asked for it. To stop it: {page}', {
    page: stopUrl,
  });
  return {
    subject: `${t('You can vote again')} (${SERVICE_NAME})`,
    text: [
      t('These servers take your next vote:'),
      ...list,
      `-- \n${SERVICE_NAME}, ${PUBLIC_URL}\n${stop}`,
    ].join('\n\n'),
    stopUrl,
  };
}
