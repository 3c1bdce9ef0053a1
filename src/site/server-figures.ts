import { html } from 'hono/html';
import type { ServerInfo } from '../status/server-info.ts';
import type { Content, Html } from './html.ts';
import { figure } from './parts.ts';
import { count, counted, decimal } from './words.ts';

/** How a server stands, in the five numbers that matter; `more` are others that a page has to say. */
export function serverFigures(info: ServerInfo, more: Content = ''): Html {
  const { status, onlinePlayers, maxPlayers, monthlyVotes, votesCount, uptimePercentage } = info;
  const isKnown = info.lastCheckedAt !== null;
  const most = maxPlayers > 0 ? `of ${count(maxPlayers)}` : undefined;
  const detail = status === 'unknown' ? 'when last known' : most;
  return html`<div class="figures">
    ${isKnown ? figure('Players', count(onlinePlayers), detail) : figure('Players', '–', 'not known yet')}
    ${more}
    ${figure('Rank', count(info.rankPosition))}
    ${figure('Votes this month', count(monthlyVotes))}
    ${figure('Votes in 30 days', count(votesCount))}
    ${figure('Uptime in 30 days', uptimePercentage === null ? '–' : `${decimal(uptimePercentage)} %`, uptimePercentage === null ? 'not known yet' : undefined)}
  </div>`;
}

/** How many play, or why nobody can say: `12 of 100 players`, `offline`. */
export function playersText({
  status,
  onlinePlayers,
  maxPlayers,
}: Pick<ServerInfo, 'status' | 'onlinePlayers' | 'maxPlayers'>): string {
  if (status !== 'online') return status === 'offline' ? 'offline' : 'status unknown';
  return maxPlayers > 0
    ? `${count(onlinePlayers)} of ${counted(maxPlayers, 'player')}`
    : counted(onlinePlayers, 'player');
}
