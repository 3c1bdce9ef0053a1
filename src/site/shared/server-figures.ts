import { whyNotProbed } from '../../games/games.ts';
import type { ServerInfo } from '../../history/server-info.ts';
import { t } from '../../language/t.ts';
import { count, counted } from './format.ts';
import { type Content, type Html, html } from './html.ts';

/** The players as a figure of an overview: `–` and why, if they are not known. */
export function playersFigure(
  info: ServerInfo,
  game: string | null | undefined,
): { value: string; detail: Content } {
  if (info.lastCheckedAt === null)
    return { value: '–', detail: whyNotProbed(game) ? t('not probed') : t('not known yet') };
  if (info.playersHidden) return { value: '–', detail: t('players hidden') };
  if (info.listingPause) return { value: '–', detail: t('paused') };
  const { status, onlinePlayers, maxPlayers } = info;
  const most = maxPlayers > 0 ? t('of {maxPlayers}', { maxPlayers: count(maxPlayers) }) : '';
  const when = status === 'unknown' ? t('when last known') : most;
  return {
    value: count(onlinePlayers),
    detail: info.playersSource === 'reports' ? html`${when} ${reportedMark()}` : when,
  };
}

export function reportedMark(): Html {
  const title = t('Reported by the server. Our last successful check is older.');
  return html`<span class="soft small" title="${title}">${t('reported')}</span>`;
}

/** `12 of 100 players (self-reported)`, `online, players hidden`, `offline`, `paused` */
export function playersText({
  status,
  onlinePlayers,
  playersHidden,
  maxPlayers,
  playersSource,
  listingPause,
}: Pick<
  ServerInfo,
  'status' | 'onlinePlayers' | 'playersHidden' | 'maxPlayers' | 'playersSource' | 'listingPause'
>): string {
  if (listingPause) return t('paused');
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
