import { t } from '../../language/t.ts';
import { PLAYER_DAYS } from '../../ranking/evidence/players-seen.ts';
import {
  API_VOTES_A_PLAYER,
  ASSUMED_PLAYERS,
  FEWEST,
  FULL_OF_NETWORK,
  MORE_PROVEN,
  MOST_PLAYERS,
  NEVER_WAITING,
  NEW_NAMES_A_PLAYER,
  NEW_VOTES,
  TENTHS_OF_NETWORK,
  VOTES_A_PLAYER,
  weighDay,
} from '../../ranking/evidence/weigh-day.ts';
import { count, day, decimal } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { card } from '../shared/parts.ts';

/**
 * Explains the rules of `weighDay` to players. `first`: the first UTC day with weighed votes; null if there is none.
 */
export function voteWeights(first: string | null): Html {
  const summary = t(
    'Every accepted vote reaches the server, can be rewarded and is in all counts. Nearly all of them also count in full for the rank. Only votes that little speaks for weigh less there, so that a rank cannot be bought cheaply. For each server and day (UTC):',
  );
  const players = t(
    '“Players” is the highest number that our own checks saw on the day or in the {days} days before. A server’s own reports do not count. More than {most} players count as {most}, because a game server can tell us any number. Where our checks see no number, because the server hides it, the game cannot be asked or was not asked yet, {players} are assumed.',
    { days: PLAYER_DAYS, most: count(MOST_PLAYERS), players: ASSUMED_PLAYERS },
  );
  const earlier = first
    ? t('Votes from before {day}, and votes that were imported, count in full.', {
        day: day(new Date(first)),
      })
    : '';
  const harmless = t(
    'A further vote never lowers a rank, so nobody harms a server by voting for it. The owner sees on the statistics page how many votes count, and why the others do not.',
  );
  return card({
    title: t('What a vote weighs'),
    id: 'weight',
    body: html`<p>${summary}</p>
      <ul class="checklist">${rules()}</ul>
      <p>${players}</p>
      <p>${examples()}</p>
      <p class="soft">${earlier} ${harmless}</p>`,
  });
}

/** An item in the list of rules: a title and a text. */
export function ruleItem(title: string, text: Content): Html {
  return html`<li><strong>${title}</strong> <span class="soft">${text}</span></li>`;
}

function rules(): Html[] {
  const network = t(
    '{full} count in full, as at home; up to {more} of regulars, or with confirmed accounts that are older than 7 days. {tenths} further ones count a tenth each, the rest not. A network is one internet connection and its neighbours (IPv4 /24, IPv6 /64); an IPv6 /48 has four times as much.',
    { full: FULL_OF_NETWORK, more: FULL_OF_NETWORK + MORE_PROVEN, tenths: TENTHS_OF_NETWORK },
  );
  const regulars = t(
    'A name that voted for the server at least {votes} times before is a regular. Its votes on the page count in full.',
    { votes: NEW_VOTES + 1 },
  );
  const newNames = t(
    '{each} for each player of the server count in full, and at least {fewest}. Further ones count a tenth.',
    { each: NEW_NAMES_A_PLAYER, fewest: FEWEST },
  );
  const fromApi = t(
    'The server’s own website or plugin casts them, so we see no network. {each} for each player count in full, and at least {fewest}. Further ones count a tenth.',
    { each: API_VOTES_A_PLAYER, fewest: FEWEST },
  );
  const all = t(
    'More than {each} for each player, and more than {fewest}, do not count for the rank until an operator allows them.',
    { each: VOTES_A_PLAYER, fewest: NEVER_WAITING },
  );
  return [
    ruleItem(t('Votes from one network'), network),
    ruleItem(t('Regulars'), regulars),
    ruleItem(t('New names'), newNames),
    ruleItem(t('Votes through the API'), fromApi),
    ruleItem(t('All votes of the day'), all),
  ];
}

const NO_VOTES = {
  imported: 0,
  form: { regulars: 0, newcomers: 0 },
  api: { regulars: 0, newcomers: 0 },
  network: { tenths: 0, nothing: 0 },
  allowance: 0,
};

/** Examples, computed with `weighDay`, which the ranking uses. */
function examples(): string {
  const [players, votes] = [12, 500];
  const newcomers = { regulars: 0, newcomers: votes };
  const apart = weighDay({ ...NO_VOTES, players, form: newcomers });
  const together = FULL_OF_NETWORK + TENTHS_OF_NETWORK / 10;
  return t(
    'For example, a server with at most {players} players gets {votes} votes of new names in a day. From one network they count as {together}, from {votes} networks as {apart}. A vote party of 200 at a server with 120 players counts in full.',
    {
      players,
      votes: count(votes),
      together: decimal(together),
      apart: decimal(apart.tenths / 10),
    },
  );
}
