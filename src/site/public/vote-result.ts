import type { WithId } from 'mongodb';
import type { DeliveryStatus } from '../../delivery/timeline/timeline-event.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import type { Server } from '../../servers/server.ts';
import type { QuarantineCause } from '../../votes/exclusions/vote-exclusion.ts';
import type { Vote } from '../../votes/vote.ts';
import type { VoteStreak } from '../../votes/vote-streak.ts';
import { count, relative } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { livePart } from '../shared/live.ts';
import { badge, card, notice } from '../shared/parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import type { Site } from '../shared/site-settings.ts';
import { badgeOf } from '../shared/vote-state.ts';
import { streakCard } from './streak-card.ts';

type VoteResult = {
  server: WithId<Server>;
  vote: Vote;
  status: DeliveryStatus;
  streak: VoteStreak;
  /** Why the vote is held, if the reason is stored. */
  heldFor: QuarantineCause | undefined;
  /** The number of the server's votes in this month. */
  monthlyVotes: number;
  now: Date;
};

/** `/servers/<slug>/vote/<vote id>`: the result of a vote and the state of its delivery. */
export function resultPage(site: Site, result: VoteResult): Page {
  const { server, vote } = result;
  const page = `${site.base}${publicPath(server)}`;
  return {
    title: t('Your vote for {server}', { server: server.name }),
    width: 'narrow',
    live: true,
    body: html`<h1>${t('Your vote for <bdi>{server}</bdi>', { server: server.name })}</h1>
      ${countedNotice(result)}
      ${card({ title: t('In the game'), body: deliveryPart(`${page}/vote/${vote._id.toString()}`, result) })}
      ${streakCard(vote.username, result.streak)}
      <p><a href="${page}">${t('About <bdi>{server}</bdi>', { server: server.name })}</a></p>`,
  };
}

function countedNotice({ vote, status, monthlyVotes, server, heldFor }: VoteResult): Html {
  const player = html`<bdi>${vote.username}</bdi>`;
  if (vote.quarantinedAt && status.state === 'none' && status.why === 'excluded')
    return notice(
      'bad',
      html`${t('An operator of this listing has excluded the vote of {player}. It does not count.', { player })}`,
    );
  if (vote.quarantinedAt) {
    const held = t(
      'The vote of {player} is stored, but does not count yet: an operator of this listing checks it. If the quarantine is lifted, it counts, and the game server can reward it.',
      { player },
    );
    return notice('attention', html`${held} ${heldText(server, heldFor)}`);
  }
  if (vote.excludedAt)
    return notice(
      'bad',
      html`${t('An operator of this listing has excluded the vote of {player}.', { player })}`,
    );
  return notice(
    'good',
    t('The vote of {player} counts. <bdi>{server}</bdi> has {votes} this month.', {
      player,
      server: server.name,
      votes: count(monthlyVotes),
    }),
  );
}

/** Why a vote is held, and what the player can do next time. */
function heldText({ name }: VoteResult['server'], heldFor: QuarantineCause | undefined): Content {
  const server = name;
  switch (heldFor) {
    case 'network':
      return t(
        'The reason is your network: more new players than usual voted from it. Votes count at once if you sign in with an account that is older than 7 days, or from tomorrow (UTC) if fewer new players vote before you.',
      );
    case 'neighbourhood':
      return t(
        'The reason is your provider’s network: many new players from it vote for <bdi>{server}</bdi> now. Votes count at once if you sign in with an account that is older than 7 days, or in some hours.',
        { server },
      );
    case 'mail-domain':
      return t(
        'The reason is the mail domain of your account: many new players with it vote for <bdi>{server}</bdi> now. Your votes count again in some hours.',
        { server },
      );
    case undefined:
      return '';
    case 'new-players':
      return t(
        'This is not because of you: many new players are voting for <bdi>{server}</bdi> now. Votes of players who voted for it before are not held, and votes from an account that is older than 7 days are held less often.',
        { server },
      );
  }
}

function deliveryPart(href: string, { status, now }: VoteResult): Html {
  const sentence = playerText(status, now);
  const isOpen =
    status.state === 'waiting' ||
    status.state === 'sending' ||
    (status.state === 'none' && status.why === 'quarantined');
  return livePart({
    id: 'delivery',
    href,
    announcement: sentence,
    open: isOpen,
    body: html`<p>${playerBadge(status)} ${sentence}</p>`,
  });
}

function playerBadge(status: DeliveryStatus): Html {
  if (status.state === 'none' && status.why === 'quarantined') return badge('attention', t('quarantined'));
  if (status.state === 'none' && status.why === 'excluded') return badge('bad', t('excluded'));
  return badgeOf(status.state, status.state === 'delivered' ? status.confirmed : null);
}

/**
 * The state of the delivery as text for the player, without any detail of the listener. The owner's text is
 * `statusText`.
 */
function playerText(status: DeliveryStatus, now: Date): string {
  switch (status.state) {
    case 'none':
      return t(NONE[status.why]);
    case 'waiting': {
      const { waitingFor } = status;
      const next =
        'at' in waitingFor ? ` ${t('The next try is {time}.', { time: relative(waitingFor.at, now) })}` : '';
      const sentence = status.reason
        ? t('The game server does not take votes now. Your vote is kept and sent when it does.')
        : t('Your vote is on its way to the game server.');
      return `${sentence}${next}`;
    }
    case 'sending':
      return t('Your vote is being sent to the game server.');
    case 'delivered':
      return status.confirmed === false
        ? t('Your vote was sent. This game server does not confirm votes.')
        : t('Your vote arrived at the game server.');
    case 'unconfirmed':
      return status.why === 'restored'
        ? t(
            'This listing was restored from a backup. Your vote may have reached the game server before that. The owner of the server can send it again.',
          )
        : t(
            'Your vote was sent, but the game server did not answer. The owner of the server can send it again.',
          );
    case 'failed':
      return t(
        'Your vote counts here, but the game server did not take it. The owner of the server can send it again.',
      );
  }
}

const NONE: Record<Extract<DeliveryStatus, { state: 'none' }>['why'], Text> = {
  imported: defineMessage('This vote was cast on another listing.'),
  quarantined: defineMessage('Your vote waits for a decision of an operator.'),
  excluded: defineMessage('Your vote is not sent to the game server.'),
  'no-listener': defineMessage(
    'This listing sends no votes to this server. Its plugin may ask the listing for your vote.',
  ),
  'listener-removed': defineMessage('The owner has switched off sending votes to the game server.'),
};
