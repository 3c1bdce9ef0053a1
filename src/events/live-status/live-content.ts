import { createHash } from 'node:crypto';
import type { ObjectId, WithId } from 'mongodb';
import type { VoteGoal } from '../../goals/goal.ts';
import { type GoalProgress, goalProgress } from '../../goals/goal-progress.ts';
import { spanAt } from '../../goals/goal-span.ts';
import { playersHidden, STATUS_FIELDS, statusAt } from '../../history/current-status.ts';
import { plural } from '../../language/plural.ts';
import { SECOND } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import { hostAndPort } from '../../platform/host-and-port.ts';
import { pauseAt } from '../../servers/listing-pause.ts';
import { secondOf } from '../../servers/second-address.ts';
import type { Server, ServerStatus } from '../../servers/server.ts';
import type { EventsDeps } from '../deps.ts';
import { type Embed, embedsMessage, literal, TONE_COLOURS } from '../discord/discord-embed.ts';
import { numberText, PERIOD_WORDS } from '../event-text.ts';

const SHOWN = {
  name: 1,
  slug: 1,
  address: 1,
  port: 1,
  webVotes: 1,
  removedAt: 1,
  hiddenAt: 1,
  rankPosition: 1,
  ranked: 1,
  goalId: 1,
  current: 1,
  ...STATUS_FIELDS,
} as const;

/** From which the message of a server is made. */
export type LiveSource = { server: WithId<Server>; goal: VoteGoal | null };

/** Of all of these servers in two queries; removed ones are left out. */
export async function readLiveSources(
  { servers, voteGoals }: Pick<EventsDeps, 'servers' | 'voteGoals'>,
  serverIds: readonly ObjectId[],
): Promise<Map<string, LiveSource>> {
  const [listed, goals] = await Promise.all([
    servers.find({ _id: { $in: [...serverIds] }, removedAt: null }, { projection: SHOWN }).toArray(),
    voteGoals.find({ serverId: { $in: [...serverIds] } }).toArray(),
  ]);
  const goalOf = new Map(goals.map((goal) => [goal.serverId.toHexString(), goal]));
  return new Map(
    listed.map((server) => {
      const id = server._id.toHexString();
      return [id, { server, goal: goalOf.get(id) ?? null }];
    }),
  );
}

/** If it is the same as before, so is the message. It reads nothing more. */
export function seenOf({ server, goal }: LiveSource, now: Date): string {
  const of = goal && [goal.goalId, goal.text, goal.reached, goal.counted.votes, spanAt(goal, now).from];
  return hashOf([shownOf(server, now), of]);
}

function shownOf(server: WithId<Server>, now: Date) {
  const { name, slug, current, hiddenAt, ranked, rankPosition } = server;
  const pause = pauseAt(server, now);
  return {
    name,
    slug,
    isHidden: Boolean(hiddenAt),
    address: hostAndPort(server.address, server.port),
    second: secondText(server),
    takesVotes: server.webVotes !== false && !pause,
    pausedUntil: pause ? (pause.until?.toISOString() ?? null) : undefined,
    pauseText: pause?.text ?? undefined,
    status: statusAt(server, now),
    players: current.onlinePlayers,
    mostPlayers: current.maxPlayers,
    playersAreHidden: playersHidden(current),
    rank: ranked ? rankPosition : null,
  };
}

function secondText(server: WithId<Server>): string | undefined {
  const second = secondOf(server);
  return second ? hostAndPort(second.address, second.port) : undefined;
}

function hashOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22);
}

type LiveEmbed = Omit<Embed, 'timestamp'> & { fields: { name: string; value: string; inline: boolean }[] };

type Site = Pick<Config, 'PUBLIC_URL' | 'SERVICE_NAME' | 'WEB_VOTES'>;

/** The message for Discord, and its hash, which is of what a reader sees without the time. */
export async function liveContent(
  deps: Pick<EventsDeps, 'votes' | 'config'>,
  { server, goal }: LiveSource,
  now: Date,
): Promise<{ body: object; hash: string }> {
  const progress = goal && (await goalProgress(deps, goal, now));
  const embed = embedFor(deps.config, shownOf(server, now), progress);
  return { body: embedsMessage([{ ...embed, timestamp: now.toISOString() }]), hash: hashOf(embed) };
}

/** What a new message says until its first edit. It stays true, so a message whose id was lost misleads nobody. */
export function firstBody({ PUBLIC_URL, SERVICE_NAME }: Site, { name, slug }: Server): object {
  const url = `${PUBLIC_URL}/servers/${slug}`;
  const description = `Status, players and votes of this server: ${url}`;
  const footer = { text: SERVICE_NAME };
  const title = titleOf(name);
  return embedsMessage([{ title, url, description, color: TONE_COLOURS.quiet, fields: [], footer }]);
}

function embedFor(
  { PUBLIC_URL, SERVICE_NAME, WEB_VOTES }: Site,
  shown: ReturnType<typeof shownOf>,
  progress: GoalProgress | null,
): LiveEmbed {
  const url = `${PUBLIC_URL}/servers/${shown.slug}`;
  const common = { title: titleOf(shown.name), url, footer: { text: SERVICE_NAME } };
  if (shown.isHidden)
    return { ...common, description: 'Not listed at the moment.', color: TONE_COLOURS.quiet, fields: [] };
  const { sign, word, tone } = shown.pausedUntil === undefined ? STATES[shown.status] : PAUSED;
  const canVote = shown.takesVotes && WEB_VOTES !== 'off';
  const field = (name: string, value: string | null, inline = true) =>
    value ? [{ name, value, inline }] : [];
  return {
    ...common,
    description: `${sign} **${word}**${pauseWords(shown)}${canVote ? `\n**[Vote for this server](${url}/vote)**` : ''}`,
    color: TONE_COLOURS[tone],
    fields: [
      ...field('Players', playersIn(shown), false),
      ...field(
        shown.second ? 'Addresses' : 'Address',
        [shown.address, shown.second]
          .flatMap((text) => (text ? [literal(text, LONGEST_VALUE)] : []))
          .join('\n'),
      ),
      ...field('Rank', shown.rank === null ? null : `#${numberText(shown.rank)}`),
      ...field('Vote goal', progress && goalText(progress), false),
    ],
  };
}

/** Discord allows a field 1,024 characters. */
const LONGEST_VALUE = 500;

function titleOf(name: string): string {
  return literal(name, 256);
}

const STATES: Record<ServerStatus, { sign: string; word: string; tone: keyof typeof TONE_COLOURS }> = {
  online: { sign: '\u{1f7e2}', word: 'Online', tone: 'good' },
  offline: { sign: '\u{1f534}', word: 'Offline', tone: 'bad' },
  unknown: { sign: '\u{26aa}', word: 'Status unknown', tone: 'quiet' },
};

const PAUSED = { sign: '\u{23f8}\u{fe0f}', word: 'Paused', tone: 'quiet' } as const;

/** Readers see the date in their own time zone. */
function pauseWords({ pausedUntil, pauseText }: ReturnType<typeof shownOf>): string {
  const until = pausedUntil ? `, back <t:${Math.floor(Date.parse(pausedUntil) / SECOND)}:D>` : '';
  return `${until}${pauseText ? `\n${literal(pauseText, LONGEST_VALUE)}` : ''}`;
}

/** Null unless they are known now. */
function playersIn({ status, players, mostPlayers, playersAreHidden }: ReturnType<typeof shownOf>) {
  if (status !== 'online' || playersAreHidden) return null;
  return mostPlayers > 0
    ? `${bar(players / mostPlayers)} ${numberText(players)} of ${numberText(mostPlayers)}`
    : numberText(players);
}

function goalText({ votes, target, period, text }: GoalProgress): string {
  const noun = plural(target, 'vote', 'votes');
  const figures = `${bar(votes / target)} ${numberText(votes)} of ${numberText(target)} ${noun}${PERIOD_WORDS[period]}`;
  return text ? `${figures}\n${literal(text, LONGEST_VALUE)}` : figures;
}

const BAR_LENGTH = 12;

/** `▰▰▰▱▱▱▱▱▱▱▱▱`: full only from 1 on, and empty only at 0. */
function bar(part: number): string {
  const rounded = Math.min(Math.floor(part * BAR_LENGTH), BAR_LENGTH);
  const full = part > 0 ? Math.max(rounded, 1) : 0;
  return '▰'.repeat(full) + '▱'.repeat(BAR_LENGTH - full);
}
