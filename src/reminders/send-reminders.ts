import { inLanguage } from '../language/language.ts';
import { t } from '../language/t.ts';
import { after, HOUR, MINUTE, SECOND } from '../platform/clock.ts';
import type { ResolveOptions } from '../platform/resolve-address.ts';
import type { RemindersDeps } from './deps.ts';
import type { PushSubscriptionKeys } from './keep-reminder.ts';
import { dueAtOf, dueOf, readNextVotes } from './next-votes.ts';
import { type OpenedPushKey, openPushKey } from './read-push-key.ts';
import { contextOfReminder, dueUntil, type Reminder, type ReminderEnd } from './reminder.ts';
import { connectionsOf, openPushSender, type PushAnswer, type PushSender } from './send-push.ts';
import { afterSilence, nextSilence } from './silent-hours.ts';

/** Messages at once, to all push services together. */
const AT_ONCE = 40;
const BATCH = 200;

/** A write that a failover loses costs a second notification, which replaces the first; waiting would slow votes. */
const LOOSE = { writeConcern: { w: 1 } } as const;

/** If the process dies meanwhile, the reminder is due again. */
const LEASE_MS = 10 * MINUTE;

/** After this number of failures without a success, a push service is left alone for a while, so that it delays no other. */
const FAILURES_OF_HOST = 3;
const REST_MS = MINUTE;

/** Of one reminder; after these it waits for the next vote. */
const WAITS_MS = [5 * MINUTE, 15 * MINUTE, HOUR, 2 * HOUR];

type Run = { signal: AbortSignal; lookup?: ResolveOptions['lookup'] };

/** The next minute's run goes on, so due mails, which come first, never wait for long. */
const LONGEST_RUN_MS = 50 * SECOND;

/** Keeps in memory which push services failed. */
export function createReminders(deps: RemindersDeps) {
  const hosts = new RestingHosts(deps);

  /** Sends due reminders, all if they take less than 50 s. Of two runs at once, each reminder is sent by one. */
  return async function sendReminders({ signal, lookup }: Run): Promise<ReminderEnd[]> {
    const ends: ReminderEnd[] = [];
    let sending: Sending | undefined;
    const until = performance.now() + LONGEST_RUN_MS;
    try {
      while (!signal.aborted && performance.now() < until) {
        const due = await readDue(deps, hosts.resting());
        if (due.length === 0) break;
        sending ??= await openSending(deps, lookup);
        const parts = { ...sending, deps, hosts };
        await inTurns(due, async (reminder) => {
          if (signal.aborted || hosts.isResting(reminder.host)) return;
          const end = await remind(parts, reminder);
          if (end) ends.push(end);
        });
      }
    } finally {
      await sending?.sender.close();
    }
    return ends;
  };
}

type Sending = { key: OpenedPushKey; sender: PushSender };

async function openSending(deps: RemindersDeps, lookup: ResolveOptions['lookup']): Promise<Sending> {
  const key = await openPushKey(deps);
  return { key, sender: await openPushSender(deps, key, { lookup }) };
}

function readDue({ reminders, clock }: RemindersDeps, resting: string[]): Promise<Reminder[]> {
  return reminders
    .find({ dueAt: dueUntil(clock.now()), host: { $nin: resting } })
    .sort({ dueAt: 1 })
    .limit(BATCH)
    .toArray();
}

/** At most `connectionsOf` a push service run at once. Every one gets its first turn before a second. */
async function inTurns(due: Reminder[], work: (reminder: Reminder) => Promise<void>): Promise<void> {
  const queues = [...Map.groupBy(due, ({ host }) => host)];
  const turns = Array.from({ length: AT_ONCE }, (_, n) =>
    queues.flatMap(([host, queue]) => (n < Math.min(queue.length, connectionsOf(host)) ? [queue] : [])),
  ).flat();
  const run = async () => {
    for (let queue = turns.shift(); queue; queue = turns.shift())
      for (let reminder = queue.shift(); reminder; reminder = queue.shift()) await work(reminder);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
}

type Parts = Sending & { deps: RemindersDeps; hosts: RestingHosts };

/** Null if another run has it, or the browser has just voted. */
async function remind({ deps, key, sender, hosts }: Parts, reminder: Reminder): Promise<ReminderEnd | null> {
  const { reminders, clock } = deps;
  const { _id, dueAt = null, timeZone } = reminder;
  const now = clock.now();
  const lease = after(now, LEASE_MS);
  const { matchedCount } = await reminders.updateOne({ _id, dueAt }, { $set: { dueAt: lease } }, LOOSE);
  if (matchedCount === 0) return null;
  // If the browser votes meanwhile, its new time stays.
  const settle = (fields: Partial<Reminder>) =>
    reminders.updateOne({ _id, dueAt: lease }, { $set: fields }, LOOSE);
  const nextVotes = await readNextVotes(deps, reminder.votes);
  if (dueOf(nextVotes, reminder.usedAt, now).length === 0) {
    await settle({ dueAt: dueAtOf(nextVotes, reminder, now) });
    return 'voted';
  }
  const allowedAt = afterSilence(now, timeZone);
  if (allowedAt > now) {
    await settle({ dueAt: allowedAt });
    return 'silent';
  }
  const subscription = openSubscription(deps, reminder);
  const isUsable = subscription && reminder.publicKey === key.publicKey;
  const ttlMs = nextSilence(now, timeZone).getTime() - now.getTime();
  const answer: PushAnswer = isUsable
    ? await sender.send(subscription, payloadIn(reminder.language), ttlMs)
    : { kind: 'gone' };
  hosts.note(reminder.host, answer);
  if (answer.kind === 'gone') {
    await reminders.deleteOne({ _id });
    return 'gone';
  }
  if (answer.kind === 'sent') {
    await settle({ dueAt: null, failures: 0, sentAt: now });
    return 'sent';
  }
  deps.log.warn({ event: 'reminder.not_sent', pushService: reminder.host, reason: answer.reason });
  const waitMs = answer.kind === 'later' ? WAITS_MS[reminder.failures] : undefined;
  if (answer.kind === 'refused' || waitMs === undefined) {
    await settle({ dueAt: null, failures: 0 });
    return answer.kind === 'refused' ? 'refused' : 'given-up';
  }
  const again = after(now, Math.max(waitMs, answer.waitMs ?? 0));
  await settle({ dueAt: afterSilence(again, timeZone), failures: reminder.failures + 1 });
  return 'retry';
}

/** Null if it was sealed under a key that is lost: the browser subscribes again after its next vote. */
function openSubscription(
  { secrets }: RemindersDeps,
  { _id, sealed }: Reminder,
): PushSubscriptionKeys | null {
  try {
    return JSON.parse(secrets.open(sealed, contextOfReminder(_id))) as PushSubscriptionKeys;
  } catch {
    return null;
  }
}

/** The push service cannot read it. It names neither the player nor a server, because others may see the screen. */
function payloadIn(language: string): string {
  return inLanguage(language, () =>
    JSON.stringify({
      lang: language,
      title: t('You can vote again'),
      body: t('At least one of the servers that you vote for takes your next vote.'),
      stop: t('Stop reminders'),
    }),
  );
}

class RestingHosts {
  #clock: RemindersDeps['clock'];
  #failures = new Map<string, number>();
  #until = new Map<string, Date>();

  constructor({ clock }: RemindersDeps) {
    this.#clock = clock;
  }

  resting(): string[] {
    for (const host of this.#until.keys()) if (!this.isResting(host)) this.#until.delete(host);
    return [...this.#until.keys()];
  }

  isResting(host: string): boolean {
    const until = this.#until.get(host);
    return until !== undefined && until > this.#clock.now();
  }

  note(host: string, answer: PushAnswer): void {
    if (answer.kind !== 'later') {
      this.#failures.delete(host);
      return;
    }
    const failures = (this.#failures.get(host) ?? 0) + 1;
    this.#failures.set(host, failures);
    if (failures < FAILURES_OF_HOST) return;
    this.#failures.delete(host);
    this.#until.set(host, after(this.#clock.now(), Math.max(REST_MS, answer.waitMs ?? 0)));
  }
}
