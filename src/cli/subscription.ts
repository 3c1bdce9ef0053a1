import { type Command, Option } from 'commander';
import { attemptsOf, MOST_LOGGED } from '../events/attempt-log.ts';
import { EVENT_KIND_NAMES, type EventKind } from '../events/kinds.ts';
import { replayEvent } from '../events/replay-event.ts';
import type { Subscription } from '../events/subscription.ts';
import {
  addSubscription,
  COUNTED_WAITING,
  changeSubscription,
  pauseSubscription,
  removeSubscription,
  resumeSubscription,
  rotateSubscriptionSecret,
  type SubscriptionOf,
  type SubscriptionView,
  subscriptionsOf,
} from '../events/subscriptions.ts';
import { testSubscription } from '../events/test-subscription.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError, wrongUse } from './failure.ts';
import { BY, objectIdOf, requireServer } from './find.ts';
import { examples, invocation } from './invocation.ts';
import { eventKinds } from './option-values.ts';
import { countWithNoun, span, when } from './output-format.ts';
import type { Session } from './session.ts';
import { attemptJson, attemptsTable, subscriptionJson, subscriptionsTable } from './subscription-view.ts';
import { pairs } from './table.ts';
import type { Terminal } from './terminal.ts';
import { typedSecret } from './typed-secret.ts';

export const WEBHOOK_OPTION = [
  '--webhook <address>',
  'the address of a Discord webhook, which is a secret; - reads it from standard input',
] as const;

export function addSubscriptionCommands(subscription: Command, terminal: Terminal): void {
  changing(subscription, terminal);
  const ofOne = (name: string, description: string, more = '') =>
    subscription
      .command(name)
      .description(description)
      .argument('<server>', 'id or slug')
      .argument('<subscription_id>', 'the id that `subscription list` shows')
      .addHelpText(
        'after',
        examples(terminal, `subscription ${name} alpha-craft 692019c0f0d3b1a2c4e5f607${more}`),
      );

  subscription
    .command('list')
    .description('show where the events of a server are sent, and how it goes')
    .argument('<server>', 'id or slug')
    .addHelpText('after', examples(terminal, 'subscription list alpha-craft'))
    .action(withDeps(terminal, list));
  ofOne('rotate', 'make a new signing secret; the old one stays valid for 24 h').action(
    withDeps(terminal, rotate),
  );
  ofOne('pause', 'stop sending; events wait').action(
    withDeps(terminal, (session, server: string, id: string) =>
      changeState(session, server, id, pauseSubscription),
    ),
  );
  ofOne('resume', 'continue sending; what waits is sent at once').action(
    withDeps(
      terminal,
      (session, server: string, id: string) => changeState(session, server, id, resumeSubscription),
      { wakes: true },
    ),
  );
  ofOne('remove', 'remove a subscription; what waits for it is not sent').action(withDeps(terminal, remove));
  ofOne('attempts', `show the last ${MOST_LOGGED} attempts, the newest first`).action(
    withDeps(terminal, showAttempts),
  );
  ofOne('replay', 'send an event again under its id', ' evt_8rVb…')
    .argument('<event_id>', 'the id that `subscription attempts` shows')
    .action(withDeps(terminal, replay, { wakes: true }));
  ofOne('test', 'send a test event now, and show the answer').action(withDeps(terminal, test));
}

function changing(subscription: Command, terminal: Terminal): void {
  const kinds = new Option(
    '--kinds <kinds>',
    `which events: all, or of ${EVENT_KIND_NAMES.join(', ')}`,
  ).argParser(eventKinds);
  const template = ['--template <text>', 'for Discord: the text for votes; empty: the usual one'] as const;

  subscription
    .command('add')
    .description('send the events of a server to a URL or to Discord; the secret of a URL is printed once')
    .argument('<server>', 'id or slug')
    .requiredOption('--name <name>', 'to tell subscriptions apart')
    .addOption(kinds.makeOptionMandatory())
    .option('--url <url>', 'events are posted here, signed')
    .option(...WEBHOOK_OPTION)
    .option(...template)
    .addHelpText(
      'after',
      examples(
        terminal,
        'subscription add alpha-craft --name "Raid bot" --url https://example.org/events --kinds vote.counted,goal.reached',
        'subscription add alpha-craft --name "#news" --webhook - --kinds goal.reached,milestone < webhook.txt',
      ),
    )
    .action(withDeps(terminal, add, { check: requireOneAddress }));

  subscription
    .command('change')
    .description('change a subscription; what is not given stays')
    .argument('<server>', 'id or slug')
    .argument('<subscription_id>', 'the id that `subscription list` shows')
    .option('--name <name>', 'to tell subscriptions apart')
    .addOption(new Option(kinds.flags, kinds.description).argParser(eventKinds))
    .option('--url <url>', 'another address; the secret stays')
    .option(...WEBHOOK_OPTION)
    .option(...template)
    .addHelpText(
      'after',
      examples(terminal, 'subscription change alpha-craft 692019c0f0d3b1a2c4e5f607 --kinds all'),
    )
    .action(withDeps(terminal, change, { wakes: true }));
}

type Options = { name?: string; kinds?: EventKind[]; url?: string; webhook?: string; template?: string };

function requireOneAddress(_server: string, { url, webhook, template }: Options): void {
  if ((url === undefined) === (webhook === undefined)) throw wrongUse('Give either --url or --webhook.');
  if (url !== undefined && template !== undefined) throw wrongUse('--template is for Discord.');
}

async function add(session: Session, text: string, options: Options): Promise<Answer> {
  const { name = '', kinds = [], url, webhook = '', template } = options;
  const server = await requireServer(session, text);
  const settings =
    url === undefined
      ? { type: 'discord' as const, webhook: await typedSecret(session.terminal, webhook), template }
      : { type: 'http' as const, url };
  const { subscription, secret } = await addSubscription(
    session,
    server._id,
    { name, kinds, ...settings },
    BY,
  );
  const id = subscription._id.toHexString();
  const test = invocation(`subscription test ${server.slug} ${id}`, session.terminal.env);
  return {
    json: { ...subscriptionJson({ ...subscription, waiting: 0 }), ...(secret ? { secret } : {}) },
    text: [
      `Events of ${server.slug} go to “${subscription.name}” (${id}).`,
      ...(secret ? [`Secret, shown only once: ${secret}`] : []),
      `Check that they arrive: ${test}`,
    ].join('\n'),
  };
}

async function change(session: Session, text: string, id: string, options: Options): Promise<Answer> {
  const which = await requireOne(session, text, id);
  const { webhook } = options;
  const address = webhook === undefined ? {} : { webhook: await typedSecret(session.terminal, webhook) };
  return stored(session, await changeSubscription(session, which, { ...options, ...address }, BY), id);
}

async function list(session: Session, text: string): Promise<Answer> {
  const server = await requireServer(session, text);
  const shown = await subscriptionsOf(session, server._id);
  return { json: shown.map(subscriptionJson), text: subscriptionsTable(shown, session.clock.now()) };
}

async function rotate(session: Session, text: string, id: string): Promise<Answer> {
  const which = await requireOne(session, text, id);
  const rotated = await rotateSubscriptionSecret(session, which, BY);
  if (!rotated)
    throw new CommandError(
      'no-http-subscription',
      `The subscription ${id} is of Discord, so it has no secret.`,
    );
  const { secret, previousValidUntil } = rotated;
  return {
    json: { id, secret, previous_valid_until: previousValidUntil.toISOString() },
    text: [
      `New secret, shown only once: ${secret}`,
      `Events are also signed with the old secret until ${when(previousValidUntil, session.clock.now())}. Any older secret is not used any more.`,
    ].join('\n'),
  };
}

async function changeState(
  session: Session,
  text: string,
  id: string,
  act: (deps: AppDeps, which: SubscriptionOf, by: string) => Promise<Subscription | null>,
): Promise<Answer> {
  return stored(session, await act(session, await requireOne(session, text, id), BY), id);
}

async function remove(session: Session, text: string, id: string): Promise<Answer> {
  const which = await requireOne(session, text, id);
  const { waiting } = await viewOf(session, which);
  await removeSubscription(session, which, BY);
  const events = `${waiting === COUNTED_WAITING ? 'at least ' : ''}${countWithNoun(waiting, 'waiting event')}`;
  return {
    json: { id, removed: true, unsent_events: waiting },
    text: `The subscription ${id} is removed; ${events} will not be sent.`,
  };
}

async function showAttempts(session: Session, text: string, id: string): Promise<Answer> {
  const { serverId, subscriptionId } = await requireOne(session, text, id);
  const attempts = await attemptsOf(session, serverId, subscriptionId);
  return { json: attempts.map(attemptJson), text: attemptsTable(attempts) };
}

async function replay(session: Session, text: string, id: string, eventId: string): Promise<Answer> {
  const which = await requireOne(session, text, id);
  if (!(await replayEvent(session, which, eventId, BY)))
    throw new CommandError(
      'event-not-found',
      `The event “${eventId}” of this server is not stored any more.`,
    );
  return {
    json: { id, event_id: eventId, replayed: true },
    text: `The event ${eventId} is being sent again.`,
  };
}

async function test(session: Session, text: string, id: string): Promise<Answer> {
  const which = await requireOne(session, text, id);
  const tested = await testSubscription(session, which, new AbortController().signal);
  if (tested.kind !== 'tested')
    throw new CommandError(TEST_ERRORS[tested.kind].code, TEST_ERRORS[tested.kind].text);
  const { end, status, durationMs, reason, isGone } = tested;
  return {
    json: {
      id,
      result: end,
      status: status ?? null,
      duration_ms: durationMs,
      reason: isGone ?? reason ?? null,
    },
    text: pairs([
      ['Result', end],
      ['Status', status ? `HTTP ${status}` : '-'],
      ['Took', span(durationMs)],
      ['Reason', isGone ?? reason ?? null],
    ]),
    ...(end === 'sent' ? {} : { exitCode: 1 }),
  };
}

const TEST_ERRORS = {
  none: { code: 'subscription-not-found', text: 'The subscription was removed meanwhile.' },
  unreadable: {
    code: 'secret-unreadable',
    text: 'The stored secret cannot be read. Add the subscription again.',
  },
  stopped: { code: 'not-tested', text: 'Nothing was sent.' },
};

async function stored(session: Session, changed: Subscription | null, id: string): Promise<Answer> {
  if (!changed) throw notFound(id);
  const shown = await viewOf(session, { serverId: changed.serverId, subscriptionId: changed._id });
  return { json: subscriptionJson(shown), text: subscriptionsTable([shown], session.clock.now()) };
}

async function viewOf(session: Session, which: SubscriptionOf): Promise<SubscriptionView> {
  const found = await subscriptionsOf(session, which.serverId);
  const view = found.find(({ _id }) => _id.equals(which.subscriptionId));
  if (!view) throw notFound(which.subscriptionId.toHexString());
  return view;
}

async function requireOne(session: Session, text: string, id: string): Promise<SubscriptionOf> {
  const { _id: serverId } = await requireServer(session, text);
  const subscriptionId = objectIdOf(id);
  const found =
    subscriptionId &&
    (await session.subscriptions.findOne({ _id: subscriptionId, serverId }, { projection: { _id: 1 } }));
  if (!found) throw notFound(id);
  return { serverId, subscriptionId: found._id };
}

function notFound(id: string): CommandError {
  return new CommandError('subscription-not-found', `The server has no subscription “${id}”.`);
}
