import { html } from 'hono/html';
import type { ObjectId, WithId } from 'mongodb';
import { serverInfo } from '../../history/server-info.ts';
import { listenersLoader } from '../../listeners/delivery-queues.ts';
import { rewardsOfVote } from '../../listeners/listener.ts';
import { addDays } from '../../platform/periods/period-marks.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import type { Server } from '../../servers/server.ts';
import { isRewarded } from '../../votes/claims/claim-vote.ts';
import { topVotersOfMonth } from '../../votes/top-voters.ts';
import { listCountedVotes } from '../../votes/vote-list.ts';

const LISTED = 100;
const MOST_LISTED = 500;

/**
 * Answers `object=servers` of ListForge, where most numbers are strings, and what the listing does not know is empty or
 * `0`. Null for an unknown `element`, or if the server does not exist. Only the lists have the format `html`.
 */
export async function answerServers(
  deps: AppDeps,
  serverId: ObjectId,
  { element, month = 'current', format = 'json', limit }: Record<string, string | undefined>,
): Promise<string | null> {
  const isHtml = format === 'html' && (element === 'voters' || element === 'votes');
  if (format !== 'json' && !isHtml) return 'Error: unknown format';
  if (element === 'voters' && month !== 'current' && month !== 'previous') return 'Error: unknown month';
  const server = await deps.servers.findOne({ _id: serverId });
  if (!server) return null;
  const wanted = Number.parseInt(limit ?? '', 10);
  const most = wanted >= 1 ? Math.min(wanted, MOST_LISTED) : LISTED;
  switch (element) {
    case 'voters': {
      const list = await votersOf(deps, server, month === 'previous', most);
      return isHtml ? tableOf(['nickname', 'votes'], list.voters) : JSON.stringify(list);
    }
    case 'votes': {
      const list = await votesOf(deps, server, most);
      return isHtml ? tableOf(['date', 'nickname', 'claimed'], list.votes) : JSON.stringify(list);
    }
    case 'detail':
      return JSON.stringify(await detailOf(deps, server));
    default:
      return null;
  }
}

function headOf({ name, address, port }: Server) {
  return { name, address, port: String(port) };
}

async function votersOf(deps: AppDeps, server: WithId<Server>, isPrevious: boolean, most: number) {
  const current = deps.clock.now().toISOString().slice(0, 7);
  const month = isPrevious ? addDays(`${current}-01`, -1).slice(0, 7) : current;
  const voters = await topVotersOfMonth(deps, server._id, month, most);
  return {
    ...headOf(server),
    month: month.replace('-', ''),
    voters: voters.map(({ username, votes }) => ({ nickname: username, votes: String(votes) })),
  };
}

async function votesOf(deps: AppDeps, server: WithId<Server>, most: number) {
  const [votes, listener] = await Promise.all([
    listCountedVotes(deps, server._id, most),
    deps.batcher.load(listenersLoader, deps.listeners, server._id),
  ]);
  return {
    ...headOf(server),
    votes: votes.map((vote) => ({
      date: longDate(vote.votedAt),
      timestamp: Math.floor(vote.votedAt.getTime() / 1_000),
      nickname: vote.username,
      steamid: '',
      claimed: isRewarded(vote, rewardsOfVote(listener, vote)) ? '1' : '0',
    })),
  };
}

/** ListForge names the format without an example, so the table has the fields of the JSON. */
function tableOf<Field extends string>(fields: Field[], rows: Record<Field, string>[]): string {
  const cells = (texts: string[], tag: 'th' | 'td') =>
    texts.map((text) => (tag === 'th' ? html`<th>${text}</th>` : html`<td>${text}</td>`));
  const titles = fields.map((field) => `${field.slice(0, 1).toUpperCase()}${field.slice(1)}`);
  const body = rows.map(
    (row) =>
      html`<tr>${cells(
        fields.map((field) => row[field]),
        'td',
      )}</tr>`,
  );
  return String(html`<table><tr>${cells(titles, 'th')}</tr>${body}</table>`);
}

async function detailOf(deps: AppDeps, server: WithId<Server>) {
  const info = await serverInfo(deps, server);
  return {
    id: server._id.toHexString(),
    ...headOf(server),
    private: '0',
    password: '0',
    location: info.countryCode,
    hostname: info.motd,
    map: '',
    is_online: info.status === 'online' ? '1' : '0',
    players: String(info.onlinePlayers),
    maxplayers: String(info.maxPlayers),
    version: info.version,
    platform: server.game ?? '',
    uptime: info.uptimePercentage === null ? '' : String(Math.round(info.uptimePercentage)),
    score: String(info.votesCount),
    rank: String(info.rankPosition),
    votes: String(info.monthlyVotes),
    favorited: '0',
    comments: '0',
    url: `${deps.config.PUBLIC_URL}/servers/${server.slug}`,
    last_check: longDate(info.lastCheckedAt),
    last_online: longDate(server.probe.succeededAt),
  };
}

const long = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

function longDate(at: Date | null | undefined): string {
  return at ? `${long.format(at)} UTC` : '';
}
