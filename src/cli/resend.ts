import { type Command, Option } from 'commander';
import type { ObjectId } from 'mongodb';
import { resendVote } from '../delivery/resend-vote.ts';
import {
  countResendable,
  isResendable,
  NOT_ARRIVED,
  type ResendRange,
  type ResentRange,
  resendVotes,
} from '../delivery/resend-votes.ts';
import { heldByRestore, sendRestoredVotes } from '../delivery/restored-votes.ts';
import { RESENDABLE_DAYS } from '../listeners/delivery-limits.ts';
import type { AppDeps } from '../process/app-deps.ts';
import { arrivalOf } from '../votes/arrival.ts';
import { VOTE_SELECTIONS, type VoteSelection } from '../votes/sent-not-confirmed.ts';
import type { Vote } from '../votes/vote.ts';
import { sum } from '../votes/vote-counts.ts';
import { findVote } from '../votes/vote-list.ts';
import { type Answer, withDeps } from './answer.ts';
import { CommandError, wrongUse } from './failure.ts';
import { BY, noListenerError, requireServer, slugsById, uuidOf } from './find.ts';
import { examples } from './invocation.ts';
import { moment } from './option-values.ts';
import { countWithNoun, utc } from './output-format.ts';
import { withProgress } from './progress-bar.ts';
import type { Session } from './session.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

type RangeOptions = { since?: Date; until?: Date; state?: VoteSelection[]; mayArriveTwice?: boolean };

export function addResendCommands(vote: Command, terminal: Terminal): void {
  vote
    .command('resend')
    .description(
      `send a vote again, or a server’s votes of a time range; up to ${RESENDABLE_DAYS} days after they were cast`,
    )
    .argument('<vote_id|server>', 'the Vote-Id from the API’s answer; with --since, a server’s id or slug')
    .option('--since <time>', 'votes cast at this time or later: a UTC day, or a time with offset', moment)
    .option('--until <time>', 'votes cast before this time; now by default', moment)
    .addOption(
      new Option(
        '--state <state...>',
        'only votes in these states; by default none and failed, and of these only votes that surely did not arrive; unconfirmed: given up without an answer; sent-not-confirmed: delivered votes that nothing confirmed, as with Votifier v1',
      ).choices(VOTE_SELECTIONS.filter(isResendable)),
    )
    .option(
      '--may-arrive-twice',
      'also votes in the states none and failed that may have arrived or that a plugin claimed',
    )
    .addHelpText(
      'after',
      examples(
        terminal,
        'vote resend 0199f3a2-7b1c-7e55-9c1e-5f0d8a6b4c21',
        'vote resend alpha-craft --since 2026-11-20 --until 2026-11-21T08:00:00Z',
        'vote resend alpha-craft --since 2026-11-20 --state unconfirmed',
        'vote resend alpha-craft --since 2026-11-20 --state sent-not-confirmed',
      ),
    )
    .action(withDeps(terminal, resend, { wakes: true, check: requireOneOrRange }));

  vote
    .command('resend-restored')
    .description('send the votes that a restore holds back; those that arrived before arrive twice')
    .argument('[server]', 'id or slug: only of this one')
    .option('--list', 'only show how many votes are held back, by server')
    .addHelpText(
      'after',
      examples(terminal, 'vote resend-restored --list', 'vote resend-restored alpha-craft'),
    )
    .action(withDeps(terminal, resendRestored, { wakes: true, longRun: true }));
}

function requireOneOrRange(_what: string, { since, until, state, mayArriveTwice }: RangeOptions): void {
  if (!since && (until || state || mayArriveTwice))
    throw wrongUse('--until, --state and --may-arrive-twice need --since.');
  if (since && until && since >= until) throw wrongUse('--since must be before --until.');
}

function resend(session: Session, text: string, options: RangeOptions): Promise<Answer> {
  const { since } = options;
  return since ? resendRange(session, text, { ...options, since }) : resendOne(session, text);
}

async function resendRange(
  session: Session,
  text: string,
  { since, until = session.clock.now(), state, mayArriveTwice }: RangeOptions & { since: Date },
): Promise<Answer> {
  if (since >= until) throw wrongUse('--since is in the future: no vote was cast yet.');
  const server = await requireServer(session, text);
  const range: ResendRange = {
    since,
    until,
    states: state ?? NOT_ARRIVED,
    twice: mayArriveTwice ? 'also' : undefined,
  };
  const resent = await withProgress(session.terminal, 'Resending', 'votes', (progress) =>
    resendVotes(session, server._id, range, BY, { progress }),
  );
  if (!resent) throw noListenerError(session, server);
  const notSelected = await countNotSelected(session, server._id, range);
  return {
    json: {
      server_id: server._id.toHexString(),
      since: since.toISOString(),
      until: until.toISOString(),
      states: range.states,
      resent: resent.resent,
      may_arrive_twice: resent.mayArriveTwice,
      more: resent.more,
      unconfirmed: notSelected.unconfirmed,
      sent_not_confirmed: notSelected.sentNotConfirmed,
      left_out: notSelected.leftOut,
    },
    text: rangeText(resent, range, notSelected),
  };
}

/** The votes of the range that were not selected. `leftOut`: in the selected states, and they may have arrived. */
type NotSelected = { unconfirmed: number; sentNotConfirmed: number; leftOut: number };

async function countNotSelected(deps: AppDeps, serverId: ObjectId, range: ResendRange): Promise<NotSelected> {
  const count = async (state: VoteSelection, ...including: VoteSelection[]) => {
    if ([state, ...including].some((one) => range.states.includes(one))) return 0;
    return (await countResendable(deps, serverId, { ...range, states: [state] })).votes;
  };
  const countLeftOut = async () => (await countResendable(deps, serverId, { ...range, twice: 'only' })).votes;
  const [unconfirmed, sentNotConfirmed, leftOut] = await Promise.all([
    count('unconfirmed'),
    count('sent-not-confirmed', 'delivered'),
    range.twice ? 0 : countLeftOut(),
  ]);
  return { unconfirmed, sentNotConfirmed, leftOut };
}

function rangeText(
  { resent, mayArriveTwice, more }: ResentRange,
  { since, until, states, twice }: ResendRange,
  notSelected: NotSelected,
): string {
  const { unconfirmed, sentNotConfirmed } = notSelected;
  const span = `${states.join(' or ')}, cast from ${utc(since)} to ${utc(until)}`;
  const others = [
    ...notSelectedText(unconfirmed, 'unconfirmed and may have arrived: send', '--state unconfirmed'),
    ...notSelectedText(
      sentNotConfirmed,
      'sent, not confirmed (as with Votifier v1), and probably arrived: if not, send',
      '--state sent-not-confirmed',
    ),
    ...notSelectedText(
      notSelected.leftOut,
      'left out, because their players may have the reward: a sending may be a second one. To send',
      '--may-arrive-twice',
    ),
  ];
  if (resent === 0)
    return [`Nothing was resent: no vote to send is in the state ${span}.`, ...others].join('\n');
  return [
    `${countWithNoun(resent, 'vote')} in the queue again (${span}).`,
    ...(mayArriveTwice > 0
      ? [
          `${mayArriveTwice} of them ${twice ? 'may have arrived already or were claimed: their players may be rewarded twice' : 'may have arrived already, and may arrive twice'}.`,
        ]
      : []),
    ...(more ? ['There are more votes in this time range: run the command again.'] : []),
    ...others,
  ].join('\n');
}

function notSelectedText(votes: number, words: string, option: string): string[] {
  if (votes === 0) return [];
  const [are, them] = votes === 1 ? ['is', 'it'] : ['are', 'them'];
  return [`${countWithNoun(votes, 'vote')} of this time range ${are} ${words} ${them} too with ${option}.`];
}

const REFUSALS = {
  changed: 'The vote changed at this moment. Nothing was sent: run the command again.',
  imported: 'The vote was imported, and imported votes are never forwarded.',
  quarantined: 'The vote is quarantined. Decide about it first: `vote exclusions` shows its quarantine.',
  'too-old': `A vote can be resent for ${RESENDABLE_DAYS} days. This one is older.`,
  'too-many': 'Too many delivered votes of this server were resent. Try again later.',
};

async function resendOne(session: Session, text: string): Promise<Answer> {
  const voteId = uuidOf(text);
  const vote = voteId && (await findVote(session, voteId));
  if (!vote) throw noSuchVote(text);
  const resent = await resendVote(session, vote._id, BY);
  switch (resent.kind) {
    case 'resent':
      return {
        json: {
          vote_id: vote._id.toString(),
          resent: true,
          from: resent.from,
          may_arrive_twice: resent.mayArriveTwice,
        },
        text: `The vote of “${vote.username}” is in the queue again.${resent.mayArriveTwice ? twiceText(vote) : ''}`,
      };
    case 'under-way':
      throw new CommandError('under-way', `The vote is already ${resent.state}: it is not queued twice.`);
    case 'no-listener':
      throw noListenerError(
        session,
        await requireServer(session, vote.serverId.toHexString(), { removed: true }),
      );
    case 'not-found':
      throw noSuchVote(text);
    case 'may-arrive-twice':
      throw new CommandError('changed', REFUSALS.changed);
    default:
      throw new CommandError(resent.kind, REFUSALS[resent.kind]);
  }
}

function twiceText({ delivery }: Vote): string {
  return arrivalOf(delivery) === 'surely-not'
    ? ' A plugin claimed it already, and its player may be rewarded twice.'
    : ' It may have arrived already, and may arrive twice.';
}

function noSuchVote(text: string): CommandError {
  return new CommandError(
    'vote-not-found',
    `There is no vote with the id “${text}”. To resend the votes of a server, add --since.`,
  );
}

async function resendRestored(
  session: Session,
  text: string | undefined,
  { list = false }: { list?: boolean },
): Promise<Answer> {
  const server = text === undefined ? undefined : await requireServer(session, text);
  const held = await heldByRestore(session, server?._id);
  if (list) return listed(session, held);
  const sent = await withProgress(session.terminal, 'Resending', 'servers', (progress) =>
    sendRestoredVotes(session, held, BY, progress),
  );
  const votes = sum(sent.map(({ resent }) => resent?.resent ?? 0));
  const withoutListener = sent.filter(({ resent }) => !resent).length;
  const more = sent.some(({ resent }) => resent?.more);
  return {
    json: {
      servers: sent.map(({ serverId, resent }) => ({
        server_id: serverId.toHexString(),
        resent: resent?.resent ?? 0,
        has_listener: resent !== null,
      })),
      resent: votes,
      more,
    },
    text: [
      votes === 0
        ? 'No vote was sent: none is held back by a restore.'
        : `${countWithNoun(votes, 'vote')} of ${countWithNoun(sent.length - withoutListener, 'server')} in the queue again. They may arrive twice.`,
      ...(withoutListener > 0
        ? [
            `${countWithNoun(withoutListener, 'server')} with held votes ${withoutListener === 1 ? 'has' : 'have'} no vote listener.`,
          ]
        : []),
      ...(more ? ['There are more votes: run the command again.'] : []),
    ].join('\n'),
  };
}

async function listed(session: Session, held: Awaited<ReturnType<typeof heldByRestore>>): Promise<Answer> {
  const slugs = await slugsById(
    session,
    held.map(({ serverId }) => serverId),
  );
  const nameOf = (id: string) => slugs.get(id) ?? id;
  return {
    json: held.map(({ serverId, votes }) => {
      const id = serverId.toHexString();
      return { server_id: id, slug: nameOf(id), votes };
    }),
    text: table(
      ['Server', 'Votes'],
      held.map(({ serverId, votes }) => [nameOf(serverId.toHexString()), String(votes)]),
      'No vote is held back by a restore.',
    ),
  };
}
