import type { WithId } from 'mongodb';
import { nameKindOf } from '../../games/player-names.ts';
import { t } from '../../language/t.ts';
import type { Config } from '../../platform/config.ts';
import type { Server } from '../../servers/server.ts';
import { whyOff } from '../../votes/cast/cast-from-page.ts';
import { needsProvenId } from '../../votes/identity/steam-players.ts';
import type { VoteStreak } from '../../votes/vote-streak.ts';
import { networkLimits } from '../../votes/web/network-limits.ts';
import { EARLIER_DAYS } from '../../votes/web/returning-players.ts';
import type { Typed } from '../shared/form.ts';
import { count, localTime } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import type { Page, SearchMetadata } from '../shared/layout.ts';
import { card, linkTo, notice } from '../shared/parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import type { Site } from '../shared/site-settings.ts';
import { writtenText } from '../shared/written-text.ts';
import { streakCard } from './streak-card.ts';
import { identityField, steamAlternative, steamLink, votingAs } from './vote-identity.ts';

/** The data for a server's vote form. */
export type VoteFormView = {
  server: WithId<Server>;
  config: Pick<Config, 'WEB_VOTES' | 'WEB_VOTE_PLAYERS' | 'STEAM_SIGN_IN'>;
  /**
   * The user's account. An `established` one needs no proof of work, and so no script. A `young` one votes like a
   * visitor.
   */
  account: 'none' | 'young' | 'established';
  /** The SteamID that Steam confirmed for this browser; null on a page that is the same for everybody. */
  provenId: string | null;
  typed: Typed;
  /** The votes of the player whose name is in the form. */
  streak?: VoteStreak | undefined;
  /** If the vote was refused because of the cooldown: its end. */
  nextVoteAt?: Date | undefined;
  /** Set if the proof was made on another network. The script then makes a new proof and votes again, once. */
  solvesAgain?: boolean;
};

/** The page `/servers/<slug>/vote`. */
export function votePage(site: Site, view: VoteFormView): Page {
  const { server } = view;
  const page = `${site.base}${publicPath(server)}`;
  return {
    title: t('Vote for {server}', { server: server.name }),
    width: 'narrow',
    scripts: ['vote.js'],
    ...(isPlain(view) ? { metadata: metadataOf(server) } : {}),
    body: html`<h1>${t('Vote for <bdi>{server}</bdi>', { server: server.name })}</h1>
      ${view.typed.errors.form ? notice('bad', refusal(view)) : ''}
      ${card({ title: t('Your vote'), body: voteForm(site, view) })}
      ${whyOff(view.config, server) ? '' : networkRules(view.config)}
      ${view.streak ? streakCard(view.typed.values.username ?? '', view.streak) : ''}
      ${server.howToVote ? card({ title: t('From the owner'), body: writtenText(server.howToVote) }) : ''}
      <p><a href="${page}">${t('About <bdi>{server}</bdi>', { server: server.name })}</a></p>`,
  };
}

/** Whether the form is the same for everybody: without a name, an answer or an error. */
function isPlain({ typed, streak, provenId }: VoteFormView): boolean {
  return !streak && !provenId && !typed.values.username && Object.keys(typed.errors).length === 0;
}

function metadataOf(server: WithId<Server>): SearchMetadata {
  return {
    canonical: publicPath(server, '/vote'),
    description: t(
      'Vote for {server} once in 24 hours, without an account. You see whether the vote arrives in the game.',
      {
        server: server.name,
      },
    ),
  };
}

function refusal({ typed, nextVoteAt }: VoteFormView): Html {
  const next = nextVoteAt ? html` ${t('In your time: {time}.', { time: localTime(nextVoteAt) })}` : '';
  return html`${typed.errors.form}${next}`;
}

/**
 * The vote form. For visitors, its script (scripts/vote.js) gets a challenge, solves it in a web worker and then sends
 * the form. If votes on pages are turned off, a text says so.
 */
export function voteForm(site: Site, view: VoteFormView): Html {
  const { server, config, account, solvesAgain } = view;
  const off = whyOff(config, server);
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
  const script = isEstablished ? '' : html`data-vote ${solver} ${solvesAgain ? 'data-again' : ''}`;
  if (needsProvenId(config, server) && !view.provenId) return steamLink(path, true);
  return html`${votingAs(path, view.provenId)}<form method="post" action="${path}" class="stack"
    data-name-kind="${nameKindOf(server.game)}" ${script}>
    ${identityField(view)}
    ${isEstablished ? '' : proofFields(solvesAgain)}
    <div class="actions"><button type="submit">${t('Vote')}</button></div>
    ${isEstablished ? '' : needsScript(site, account)}
  </form>${steamAlternative(path, view)}`;
}

/** The hidden fields that the script fills in. `again` is set if it solves a second challenge. */
function proofFields(solvesAgain = false): Html {
  return html`<input type="hidden" name="proof" value="" />
    <input type="hidden" name="session" value="" />
    <input type="hidden" name="again" value="${solvesAgain ? '1' : ''}" />`;
}

/** The texts that the script shows. */
function scriptTexts() {
  return {
    proving: t('Proving that you are not a script …'),
    voting: t('Voting …'),
    slow: t('The proof took too long. Try again.'),
    failed: t('Your browser could not make the proof. Sign in to vote.'),
    insecure: t('Your browser makes the proof only on a secure page (https). Sign in to vote.'),
    unreachable: t('The listing does not answer. Try again.'),
  };
}

/** The text for browsers without scripts. The script replaces it with its progress. */
function needsScript({ base }: Site, account: VoteFormView['account']): Content {
  const text =
    account === 'young'
      ? t(
          'Your account is younger than 7 days, has a new e-mail address, or its address is not confirmed. Until then you vote as without an account, which needs JavaScript.',
        )
      : t('A vote without an account needs JavaScript. Without it, <a>sign in</a> to vote.', {
          a: linkTo(`${base}/sign-in`),
        });
  return html`<p class="small soft" role="status" data-progress>${text}</p>`;
}

/** The rules for votes from one network. Families, schools and shared connections need to know them. */
function networkRules(config: VoteFormView['config']): Html {
  const { newPlayers, newPlayersOverAll, players } = networkLimits(config);
  const rules = t(
    'On one day, {few} new players of one network can vote for a server, and {more} for all servers together; the votes of others wait for an operator. Players who voted from the network on {days} earlier days of the last month, and users with an account older than 7 days, do not count as new: with them, {most} players of one network can vote for a server. The day ends at midnight UTC.',
    {
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
