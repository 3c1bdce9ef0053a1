import { html } from 'hono/html';
import type { ServerInfo } from '../history/server-info.ts';
import type { Content, Html } from './html.ts';
import { figure } from './parts.ts';
import { count, counted, decimal } from './words.ts';

/** How a server stands, in the five numbers that matter; `more` are others that a page has to say. */
export function serverFigures(info: ServerInfo, more: Content = ''): Html {
  const { status, onlinePlayers, maxPlayers, monthlyVotes, votesCount, uptimePercentage } = info;
  const isKnown = info.lastCheckedAt !== null;
  const most = maxPlayers > 0 ? `of ${count(maxPlayers)}` : '';
  const when = status === 'unknown' ? 'when last known' : most;
  const detail = info.playersSource === 'reports' ? html`${when} ${reportedMark()}` : when;
  return html`<div class="figures">
    ${isKnown ? figure('Players', count(onlinePlayers), detail) : figure('Players', '–', 'not known yet')}
    ${more}
    ${figure('Rank', count(info.rankPosition))}
    ${figure('Votes this month', count(monthlyVotes))}
    ${figure('Votes in 30 days', count(votesCount))}
    ${figure('Uptime in 30 days', uptimePercentage === null ? '–' : `${decimal(uptimePercentage)} %`, uptimePercentage === null ? 'not known yet' : undefined)}
  </div>`;
}

/** Says that a number of players is the server's own, and newer than our last successful probe. */
export function reportedMark(): Html {
  return html`<span class="soft small" title="The server says so itself; no probe of ours has seen it since.">reported</span>`;
}

/** How many play, or why nobody can say: `12 of 100 players`, `12 of 100 players reported`, `offline`. */
export function playersText({
  status,
  onlinePlayers,
  maxPlayers,
  playersSource,
}: Pick<ServerInfo, 'status' | 'onlinePlayers' | 'maxPlayers' | 'playersSource'>): string {
  if (status !== 'online') return status === 'offline' ? 'offline' : 'status unknown';
  const players =
    maxPlayers > 0
      ? `${count(onlinePlayers)} of ${counted(maxPlayers, 'player')}`
      : counted(onlinePlayers, 'player');
  return playersSource === 'reports' ? `${players} reported` : players;
}
