import { Argument, type Command, Option } from 'commander';
import type { WithId } from 'mongodb';
import {
  pauseListener,
  removeListener,
  resumeListener,
  setListener,
  showListener,
} from '../delivery/change-listener.ts';
import { setFetchListener } from '../delivery/fetch/fetch-listener.ts';
import { rotateSecret, setHttpListener } from '../delivery/http/http-listeners.ts';
import { lastRefusedVote } from '../delivery/refused-vote.ts';
import { type Listener, PROTOCOLS, REWARDS, type Rewards } from '../listeners/listener.ts';
import { setRewards } from '../listeners/rewards.ts';
import { hostWarning } from '../platform/address-guard.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { countUnreadableListeners } from '../process/unreadable-secrets.ts';
import type { Server } from '../servers/server.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError } from './failure.ts';
import { BY, noListenerError, requireServer } from './find.ts';
import { examples, invocation } from './invocation.ts';
import { requireOptions, type SetOptions, secretOf } from './listener-options.ts';
import { testListener } from './listener-test.ts';
import {
  isHeldByPause,
  listenerAddress,
  listenerJson,
  listenerText,
  type ShownListener,
  sentText,
  unconfirmedText,
} from './listener-view.ts';
import { portOption, sendings } from './option-values.ts';
import { countWithNoun, when } from './output-format.ts';
import { QUEUE_PAUSED, queuePaused, type Session } from './session.ts';
import { say, type Terminal } from './terminal.ts';

export function addListenerCommands(listener: Command, terminal: Terminal): void {
  listener
    .command('set')
    .description('set or change the vote listener of a server')
    .argument('<server>', 'id or slug')
    .addOption(
      new Option(
        '--protocol <protocol>',
        'protocol of the listener; votifier-v2 and http confirm each vote, votifier-v1 only if the listener answers; fetch: the game server takes its votes with the API',
      )
        .choices(PROTOCOLS)
        .makeOptionMandatory(),
    )
    .option('--host <host>', 'for Votifier: host name or IP address, without a port')
    .option('--port <port>', 'for Votifier: the vote plugin’s port, usually 8192, not the game’s', portOption)
    .option('--public-key-file <file>', 'for votifier-v1: the plugin’s rsa/public.key')
    .option('--token <token>', 'for votifier-v2: the token in the plugin’s configuration')
    .option('--url <url>', 'for http: votes are posted here, signed; the secret is printed once')
    .option(
      '--max-sendings <n>',
      'how often a vote is sent at most when no answer comes, 1 to 3; with 1, nor is it sent again after an HTTP 5xx or 408; unchanged by default',
      sendings,
    )
    .option('--no-resend', 'do not resend votes that a wrong token or key has used up')
    .option('--service-name <name>', 'what the listener sees as the voting site; unchanged by default')
    .addHelpText(
      'after',
      examples(
        terminal,
        'listener set alpha-craft --protocol votifier-v2 --host mc.example.org --port 8192 --token 5k1v…',
        'listener set alpha-craft --protocol votifier-v1 --host mc.example.org --port 8192 --public-key-file public.key',
        'listener set alpha-craft --protocol http --url https://example.org/votes',
        'listener set alpha-craft --protocol fetch',
      ),
    )
    .action(withDeps(terminal, set, { check: requireOptions, wakes: true }));

  const plain = (name: string, description: string) =>
    listener
      .command(name)
      .description(description)
      .argument('<server>', 'id or slug')
      .addHelpText('after', examples(terminal, `listener ${name} alpha-craft`));

  plain('show', 'show a server’s listener and its state').action(withDeps(terminal, show));
  plain('remove', 'stop forwarding votes; waiting votes can be resent later').action(
    withDeps(terminal, remove),
  );
  listener
    .command('rewards')
    .description('choose whether votes are pushed to the listener, claimed by a plugin, or both')
    .argument('<server>', 'id or slug')
    .addArgument(new Argument('<rewards>', 'push, claims or both').choices(REWARDS))
    .addHelpText('after', examples(terminal, 'listener rewards alpha-craft claims'))
    .action(withDeps(terminal, chooseRewards));

  plain('pause', 'stop sending votes until the listener is resumed').action(
    withDeps(terminal, (session, text: string) => change(session, text, pauseListener)),
  );
  plain('resume', 'continue sending, waiting votes too, and test an unreachable listener at once').action(
    withDeps(terminal, (session, text: string) => change(session, text, resumeListener), { wakes: true }),
  );
  plain('rotate', 'make a new signing secret for an http listener; the old one stays valid for 24 h').action(
    withDeps(terminal, rotate),
  );
  plain(
    'test',
    'find out what is wrong with a listener: send a marked test vote and check every step',
  ).action(withDeps(terminal, testListener));
}

async function chooseRewards(session: Session, text: string, rewards: Rewards): Promise<Answer> {
  const { _id, slug } = await requireServer(session, text);
  if (!(await setRewards(session, _id, rewards, BY)))
    throw new CommandError('no-listener', `${slug} has no vote listener, so plugins can claim its votes.`);
  const words = {
    push: 'go to the listener. Plugins cannot claim them.',
    claims: 'can be claimed by plugins. The listener does not receive them; votes that wait are still sent.',
    both: 'go to the listener, and plugins can claim them. If both give rewards, each vote is rewarded twice.',
  };
  return { json: { server_slug: slug, rewards }, text: `Votes of ${slug} ${words[rewards]}` };
}

async function set(session: Session, text: string, options: SetOptions): Promise<Answer> {
  const pasted = await secretOf(options);
  const server = await requireServer(session, text);
  const before = await session.listeners.findOne({ serverId: server._id });
  const serviceName = options.serviceName ?? before?.serviceName ?? session.config.SERVICE_NAME;
  const { secret, resent, isCredentialsChange } = await storeListener(session, server, {
    ...options,
    serviceName,
    pasted,
  });
  const shown = await viewOf(session, server);
  const isFetching = shown.protocol === 'fetch';
  const warning = isFetching ? null : hostWarning(shown.host, session.config);
  if (warning) say(session.terminal, `Warning: ${warning}`);
  const sent = sentText(shown, server, session);
  return {
    json: {
      ...listenerJson(shown),
      ...(resent > 0 ? { resent } : {}),
      ...(secret ? { secret } : {}),
      ...(warning ? { warning } : {}),
    },
    text: [
      isFetching ? fetchText(session, server) : goesToText(shown, server),
      ...(shown.url ? secretText(session, secret, server) : []),
      ...(resent > 0
        ? [`${countWithNoun(resent, 'unconfirmed vote')} that the earlier settings used up: resent.`]
        : []),
      ...(isCredentialsChange && sent !== null ? [`Sent, not confirmed: ${sent}`] : []),
      `Check that they arrive: ${invocation(`listener test ${server.slug}`, session.terminal.env)}`,
    ].join('\n'),
  };
}

function goesToText(shown: ShownListener, { slug }: Server): string {
  const name = shown.url ? '.' : `, from the service name “${shown.serviceName}”.`;
  return `Votes of ${slug} go to ${listenerAddress(shown)} (${shown.protocol})${name}`;
}

function fetchText({ terminal }: Session, { slug }: Server): string {
  const token = invocation(`token issue ${slug} --kind deliver --name relay`, terminal.env);
  return `Votes of ${slug} wait until its game server fetches them, with a delivery token: ${token}`;
}

async function storeListener(
  session: Session,
  { _id }: WithId<Server>,
  options: SetOptions & { serviceName: string; pasted: string },
): Promise<{ secret: string | null; resent: number; isCredentialsChange: boolean }> {
  const { protocol, host = '', port = 0, url = '', pasted: secret } = options;
  const { serviceName, maxSendings, resend: resendUsedUp } = options;
  const shared = { serviceName, maxSendings, resendUsedUp };
  if (protocol === 'http') {
    const { listener, secret: made } = await setHttpListener(session, _id, { url, ...shared }, BY);
    return { ...listener, secret: made };
  }
  if (protocol === 'fetch') return { ...(await setFetchListener(session, _id, shared, BY)), secret: null };
  const listener = await setListener(session, _id, { protocol, host, port, secret, ...shared }, BY);
  return { ...listener, secret: null };
}

function secretText({ terminal }: Session, secret: string | null, { slug }: Server): string[] {
  return secret
    ? [`Secret, shown only once: ${secret}`]
    : [`The secret is unchanged. To make a new one: ${invocation(`listener rotate ${slug}`, terminal.env)}`];
}

async function rotate(session: Session, text: string): Promise<Answer> {
  const server = await requireServer(session, text);
  const rotated = await rotateSecret(session, server._id, BY);
  if (!rotated) {
    throw new CommandError(
      'no-http-listener',
      `${server.slug} has no http listener, so it has no signing secret.`,
    );
  }
  const { secret, previousValidUntil } = rotated;
  return {
    json: {
      server_id: server._id.toHexString(),
      secret,
      previous_valid_until: previousValidUntil.toISOString(),
    },
    text: [
      `New secret, shown only once: ${secret}`,
      `Votes are also signed with the old secret until ${when(previousValidUntil, session.clock.now())}. Any older secret is not used any more.`,
    ].join('\n'),
  };
}

async function viewOf(session: Session, server: Server): Promise<ShownListener> {
  const shown = await showListener(session, server._id);
  if (!shown) throw noListenerError(session, server);
  const { limited } = shown;
  const isLimited = limited && limited.until > session.clock.now();
  const unreadable = await countUnreadableListeners(session.listeners, session.secrets, {
    serverId: server._id,
  });
  return {
    ...shown,
    limited: isLimited ? limited : null,
    queuePaused: await queuePaused(session),
    unreadable: unreadable > 0,
    refused: await lastRefusedVote(session, shown),
  };
}

async function show(session: Session, text: string): Promise<Answer> {
  const server = await requireServer(session, text);
  const shown = await viewOf(session, server);
  return { json: listenerJson(shown), text: listenerText(shown, server, session) };
}

async function change(
  session: Session,
  text: string,
  act: (deps: AppDeps, serverId: Server['_id'], by: string) => Promise<Listener | null>,
): Promise<Answer> {
  const server = await requireServer(session, text);
  if (!(await act(session, server._id, BY))) throw noListenerError(session, server);
  const shown = await viewOf(session, server);
  return {
    json: listenerJson(shown),
    text: [
      `The listener of ${server.slug} is ${shown.state}; ${countWithNoun(shown.waiting, 'vote')} waiting.`,
      ...(shown.unconfirmed > 0 ? [`Unconfirmed: ${unconfirmedText(shown, server, session)}`] : []),
      ...(isHeldByPause(shown) ? [`${QUEUE_PAUSED}.`] : []),
    ].join('\n'),
  };
}

async function remove(session: Session, text: string): Promise<Answer> {
  const server = await requireServer(session, text);
  const removed = await removeListener(session, server._id, BY);
  if (removed === null) throw noListenerError(session, server);
  return {
    json: { server_id: server._id.toHexString(), removed: true, released_votes: removed },
    text: `Removed the listener of ${server.slug}; ${countWithNoun(removed, 'waiting vote')} can be resent later.`,
  };
}
