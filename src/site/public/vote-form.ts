import type { WithId } from 'mongodb';
import { ESTABLISHED_AFTER_DAYS } from '../../accounts/mailbox.ts';
import { nameKindOfServer } from '../../games/player-names.ts';
import { t } from '../../language/t.ts';
import type { Config } from '../../platform/config.ts';
import { pauseAt } from '../../servers/listing-pause.ts';
import type { Server } from '../../servers/server.ts';
import { whyOff } from '../../votes/cast/cast-from-page.ts';
import { COOLDOWN_HOURS } from '../../votes/cast/cooldown.ts';
import { needsProvenId } from '../../votes/identity/steam-players.ts';
import type { VoteStreak } from '../../votes/vote-streak.ts';
import { networkLimits } from '../../votes/web/network-limits.ts';
import { EARLIER_DAYS } from '../../votes/web/returning-players.ts';
import type { Site } from '../shared/decorate-site.ts';
import type { Typed } from '../shared/form.ts';
import { count, localTime } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { linkTo, notice } from '../shared/parts.ts';
import { pausedVoting, pauseNotice } from '../shared/pause-parts.ts';
import type { SearchMetadata } from '../shared/search-metadata.ts';
import { publicPath } from '../shared/server-paths.ts';
import { picturedServer, serverIcon } from '../shared/server-pictures.ts';
import { writtenText } from '../shared/written-text.ts';
import { type OtherServers, otherServers } from './other-servers.ts';
import { identityField, steamAlternative, steamLink, votingAs } from './vote-identity.ts';
import { nextVotePanel, sign, stamp, streakPanel } from './vote-panels.ts';

export type VoteFormView = {
  server: WithId<Server>;
  config: Pick<Config, 'WEB_VOTES' | 'WEB_VOTE_PLAYERS' | 'STEAM_SIGN_IN'>;
  /** `established`: the form needs no proof of work, and so no script. `young`: the user votes like a visitor. */
  account: 'none' | 'young' | 'established';
  /** Null if there is none, and on pages that are cached for all. */
  provenId: string | null;
  typed: Typed;
  /** Of the user's last vote. The form contains it if no name was entered. */
  ownName?: string | undefined;
  /** True if the proof of work was refused, but another may help. The script then makes one and votes again, once. */
  solvesAgain?: boolean;
  now: Date;
};

export type VotePageView = VoteFormView & {
  /** The streak of the player whose name is in the form. */
  streak?: VoteStreak | undefined;
  others: OtherServers;
};

/** During the cooldown of the player in the form, the page shows the time that is left. */
export function voteFormPage(site: Site, view: VotePageView): Page {
  const { server, streak, others, typed, config, now } = view;
  const isWaiting = streak?.nextVoteAt && !whyOff(config, server, now);
  return {
    title: t('Vote for {server}', { server: server.name }),
    width: 'full',
    styles: ['public.css'],
    scripts: ['vote.js', 'voted.js'],
    ...(isPlain(view) ? { metadata: metadataOf(server) } : {}),
    body: html`<div class="done">
      ${isWaiting ? cooldownPart(site, view, streak) : formPart(site, view)}
      ${isWaiting ? nextVotePanel(site, server, { ...others, ...streak, username: nameIn(typed) }) : ''}
      ${streak ? streakPanel(streak) : ''}
      ${isWaiting ? '' : ownersText(server)}
      ${otherServers(site, config, others)}
    </div>`,
  };
}

function formPart(site: Site, view: VotePageView): Html {
  const { server, typed, config, now } = view;
  const pause = pauseAt(server, now);
  const about = t('About <bdi>{server}</bdi>', { server: server.name });
  return html`${stamp(
    site,
    server,
    html`${serverIcon(site.base, picturedServer(server), 96)}
      <h1>${t('Vote for <bdi>{server}</bdi>', { server: server.name })}</h1>
      <p><a href="${site.base}${publicPath(server)}">${about}</a></p>`,
  )}
    ${pause ? pauseNotice(pause) : ''}
    ${typed.errors.form ? notice('bad', typed.errors.form) : ''}
    <section class="panel ballot"><h2>${t('Your vote')}</h2>${voteForm(site, view)}
      <div class="rules">${pause ? '' : html`<p class="small soft">${oneVote()}</p>`}
        ${whyOff(config, server, now) ? '' : networkRules(config)}</div>
    </section>`;
}

/** During the cooldown. `nextVotePanel` is below it. */
function cooldownPart(site: Site, { server, typed, provenId }: VotePageView, { votedAt }: VoteStreak): Html {
  const page = `${site.base}${publicPath(server)}`;
  const player = html`<bdi>${nameIn(typed)}</bdi>`;
  // The link has an empty name. Otherwise the script would fill in the remembered name, which leads back to this page.
  const other = provenId ? '' : html`· <a href="${page}/vote?username=">${t('Vote as another player')}</a>`;
  return stamp(
    site,
    server,
    html`${sign('clock')}<h1>${t('{player} has voted for <bdi>{server}</bdi>.', { player, server: server.name })}</h1>
      <p class="arrived">${votedAt ? t('The last vote was on {time}.', { time: localTime(votedAt) }) : ''}</p>
      <p><a href="${page}">${t('About <bdi>{server}</bdi>', { server: server.name })}</a> ${other}</p>
      ${votingAs(`${page}/vote`, provenId)}`,
  );
}

function ownersText({ howToVote }: Server): Content {
  return howToVote
    ? html`<section class="panel owner"><h2>${t('From the owner')}</h2>${writtenText(howToVote)}</section>`
    : '';
}

const nameIn = ({ values }: Typed) => values.username ?? '';

/** Search engines may index only a page without a name, votes or an error of a player. */
function isPlain({ typed, streak, ownName, provenId }: VotePageView): boolean {
  return !streak && !ownName && !provenId && !typed.values.username && Object.keys(typed.errors).length === 0;
}

function metadataOf(server: WithId<Server>): SearchMetadata {
  return {
    canonical: publicPath(server, '/vote'),
    description: t(
      'Vote for {server} once in {hours} hours, without an account. You see whether the vote arrives in the game.',
      { hours: COOLDOWN_HOURS, server: server.name },
    ),
  };
}

export function oneVote(): string {
  return t('Each player has one vote for a server in {hours} hours.', { hours: COOLDOWN_HOURS });
}

/** If the account is not established, scripts/vote.js solves a challenge before it sends the form. */
export function voteForm(site: Site, view: VoteFormView): Html {
  const { server, config, account, solvesAgain, now } = view;
  const off = whyOff(config, server, now);
  if (off === 'pause') return pausedVoting(server);
  if (off) {
    const why =
      off === 'owner'
        ? t('The owner has switched off votes on this page.')
        : t('This listing has no votes on this page.');
    return html`<p class="soft">${why}</p>`;
  }
  const isEstablished = account === 'established';
  const path = `${site.base}${publicPath(server, '/vote')}`;
  const solver = html`data-challenge="${path}/challenge" data-solver="${site.asset('solve.js')}"
    data-texts="${JSON.stringify(scriptTexts())}"`;
  const forgetting = html`<form method="post" id="${FORGET}" action="${path}/forget-name"></form>`;
  const script = isEstablished ? '' : html`data-vote ${solver} ${solvesAgain ? 'data-again' : ''}`;
  if (needsProvenId(config, server) && !view.provenId) return steamLink(path, true);
  return html`${votingAs(path, view.provenId)}
    <form method="post" action="${path}" class="stack" ${remembering(view)} ${script}>
    ${identityField(view)}
    ${isEstablished ? '' : proofFields(solvesAgain)}
    ${forgetName(view)}
    <div class="actions"><button type="submit" class="vote">${t('Vote')}</button></div>
    ${isEstablished ? '' : needsScript(site, account)}
  </form>${account === 'none' ? '' : forgetting}
    ${steamAlternative(path, view)}`;
}

const FORGET = 'forget-name';

/**
 * A server's page is cached for all visitors, so a script fills in a visitor's name, which the browser remembers (ADR
 * 87). A user's name is stored in the account.
 */
function remembering({ server, account, provenId }: VoteFormView): Html {
  return html`data-name-kind="${nameKindOfServer(server)}"
    ${account === 'none' && !provenId ? 'data-remember' : ''}`;
}

/**
 * A user's name is stored in the account, so the button sends a form. A visitor's is stored in the browser, so a script
 * shows the button and forgets the name.
 */
function forgetName({ account, provenId, typed, ownName }: VoteFormView): Content {
  if (provenId) return '';
  if (account === 'none') {
    const text = t('Not {name}?', { name: '{name}' });
    const button = html`<button type="button" class="link" data-text="${text}"></button>`;
    return html`<p class="small" data-forget hidden>${button}</p>`;
  }
  const name = typed.values.username ?? ownName;
  if (!name) return '';
  const text = t('Not {name}?', { name: html`<bdi>${name}</bdi>` });
  return html`<p class="small"><button type="submit" form="${FORGET}" class="link">${text}</button></p>`;
}

/** The script fills in `proof` and `session`. With `again`, the server does not ask for a third proof. */
function proofFields(solvesAgain = false): Html {
  return html`<input type="hidden" name="proof" value="" />
    <input type="hidden" name="session" value="" />
    <input type="hidden" name="again" value="${solvesAgain ? '1' : ''}" />`;
}

function scriptTexts() {
  return {
    proving: t('Proving that you are not a script …'),
    voting: t('Voting …'),
    slow: t('The proof took too long. Try again.'),
    failed: t(
      'Your browser could not make the proof. Sign in with an account that is older than {days} days.',
      { days: ESTABLISHED_AFTER_DAYS },
    ),
    insecure: t(
      'Your browser makes the proof only on a secure page (https). Sign in with an account that is older than {days} days.',
      { days: ESTABLISHED_AFTER_DAYS },
    ),
    unreachable: t('The listing does not answer. Try again.'),
  };
}

/** If scripts run, the script shows its progress here instead. */
function needsScript({ base }: Site, account: VoteFormView['account']): Content {
  const text =
    account === 'young'
      ? t(
          'Your account is younger than {days} days, has a new e-mail address, or its address is not confirmed. Until then you vote as without an account, which needs JavaScript.',
          { days: ESTABLISHED_AFTER_DAYS },
        )
      : t(
          'A vote without an account needs JavaScript. Allow it for this page, or <a>sign in</a> with an account that is older than {days} days.',
          { days: ESTABLISHED_AFTER_DAYS, a: linkTo(`${base}/sign-in`) },
        );
  return html`<p class="small soft" role="status" data-progress>${text}</p>`;
}

/** Families, schools and shared connections need to know them. */
function networkRules(config: VoteFormView['config']): Html {
  const { newPlayers, newPlayersOverAll, players } = networkLimits(config);
  const rules = t(
    'On one day, {few} new players of one network can vote for a server. Over all servers, the votes of {more} count at once; the votes of others wait for an operator. Players who voted from the network on {days} earlier days of the last month, and users with an account older than {established} days, do not count as new: with them, {most} players of one network can vote for a server. The day ends at midnight UTC.',
    {
      established: ESTABLISHED_AFTER_DAYS,
      few: count(newPlayers),
      more: count(newPlayersOverAll),
      days: count(EARLIER_DAYS),
      most: count(players),
    },
  );
  return html`<details class="small soft">
    <summary>${t('Several players on one connection')}</summary>
    <p>${rules}</p>
  </details>`;
}
