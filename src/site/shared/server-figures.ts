import { whyNotProbed } from '../../games/games.ts';
import { UPTIME_DAYS } from '../../history/daily-figures.ts';
import type { ServerInfo } from '../../history/server-info.ts';
import { t } from '../../language/t.ts';
import { RANKING_DAYS } from '../../votes/ranking-period.ts';
import { count, counted, decimal } from './format.ts';
import { type Html, html } from './html.ts';
import { figure } from './parts.ts';

export function serverFigures(info: ServerInfo, { game }: { game: string | null | undefined }): Html {
  const unknown = whyNotProbed(game) ? t('not probed') : t('not known yet');
  const { status, onlinePlayers, maxPlayers, votesCount, rankVotes, uptimePercentage } = info;
  const isKnown = info.lastCheckedAt !== null;
  const most = maxPlayers > 0 ? t('of {maxPlayers}', { maxPlayers: count(maxPlayers) }) : '';
  const when = status === 'unknown' ? t('when last known') : most;
  const detail = info.playersSource === 'reports' ? html`${when} ${reportedMark()}` : when;
  const players = info.playersHidden
    ? figure(t('Players'), '–', t('players hidden'))
    : figure(t('Players'), count(onlinePlayers), detail);
  return html`<div class="figures">
    ${isKnown ? players : figure(t('Players'), '–', unknown)}
    ${figure(t('Rank'), count(info.rankPosition))}
    ${figure(
      t('Votes in {days} days', { days: RANKING_DAYS }),
      count(votesCount),
      rankVotes === null ? undefined : t('{votes} for the rank', { votes: decimal(rankVotes) }),
    )}
    ${figure(
      t('Uptime in {days} days', { days: UPTIME_DAYS }),
      uptimePercentage === null ? '–' : `${decimal(uptimePercentage)} %`,
      uptimePercentage === null ? unknown : undefined,
    )}
  </div>`;
}

export function reportedMark(): Html {
  const title = t('Reported by the server. Our last successful check is older.');
  return html`<span class="soft small" title="${title}">${t('reported')}</span>`;
}

/** `12 of 100 players (self-reported)`, `online, players hidden`, `offline` */
export function playersText({
  status,
  onlinePlayers,
  playersHidden,
  maxPlayers,
  playersSource,
}: Pick<ServerInfo, 'status' | 'onlinePlayers' | 'playersHidden' | 'maxPlayers' | 'playersSource'>): string {
  if (status !== 'online') return status === 'offline' ? t('offline') : t('status unknown');
  if (playersHidden) return t('online, players hidden');
  const players =
    maxPlayers > 0
      ? t('{online} of {most, plural, one {# player} other {# players}}', {
          online: count(onlinePlayers),
          most: maxPlayers,
        })
      : counted(onlinePlayers, 'player');
  return playersSource === 'reports' ? t('{players} (self-reported)', { players }) : players;
}
