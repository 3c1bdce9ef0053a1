import { ESTABLISHED_AFTER_DAYS } from '../../accounts/mailbox.ts';
import { DAYS_UNTIL_USUAL, HIDDEN_PLAYERS, USUAL_DAYS } from '../../history/usual-players.ts';
import { defineMessage, type Text, t } from '../../language/t.ts';
import { PLAYERS_SEEN_DAYS } from '../../ranking/evidence/players-seen.ts';
import {
  API_VOTES_A_PLAYER,
  ASSUMED_PLAYERS,
  type DayEvidence,
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
import { KNOWN_AFTER } from '../../votes/vote.ts';
import { count, day, decimal } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { card, dataTable } from '../shared/parts.ts';

/** `first`: the first UTC day with weighed votes; null if there is none. */
export function voteWeights(first: string | null): Html {
  const summary = t(
    'Every accepted vote reaches the server, can be rewarded and is in all counts. Nearly all of them also count in full for the rank. Only votes that little speaks for weigh less there, so that a rank cannot be bought cheaply. For each server and day (UTC):',
  );
  const players = t(
    '“Players” is the highest number that our own checks saw on the day or in the {days} days before. A game server can tell us any number, so more than {players} count only up to twice the usual number, the median of the {usual} days before, and more than {most} as {most}. A server’s own reports do not count. A day on which a server hides its players counts as one with {hidden}. Where our checks see no number, because the game cannot be asked or was not asked yet, {players} are assumed.',
    {
      usual: USUAL_DAYS,
      days: PLAYERS_SEEN_DAYS,
      most: count(MOST_PLAYERS),
      players: ASSUMED_PLAYERS,
      hidden: HIDDEN_PLAYERS,
    },
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
      ${honestServers()}
      <p class="soft">${earlier} ${harmless}</p>`,
  });
}

export function ruleItem(title: string, text: Content): Html {
  return html`<li><strong>${title}</strong> <span class="soft">${text}</span></li>`;
}

function rules(): Html[] {
  const network = t(
    '{full} count in full, as at home; up to {more} of regulars, or with confirmed accounts that are older than {days} days. {tenths} further ones count a tenth each, the rest not. A network is one internet connection and its neighbours (IPv4 /24, IPv6 /64); an IPv6 /48 has four times as much.',
    {
      days: ESTABLISHED_AFTER_DAYS,
      full: FULL_OF_NETWORK,
      more: FULL_OF_NETWORK + MORE_PROVEN,
      tenths: TENTHS_OF_NETWORK,
    },
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
    'The server’s own website or plugin casts them, so we see no network, and names could be invented. Votes of names that have voted on the server’s page at least {known} times count in full up to {each} for each player, and at least {fewest}; further ones count a tenth. Of other names, {fewest} votes count in full; further ones do not count until an operator allows them.',
    { each: API_VOTES_A_PLAYER, fewest: FEWEST, known: KNOWN_AFTER },
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
  api: { regulars: 0, newcomers: 0, unknown: 0 },
  network: { tenths: 0, nothing: 0 },
  allowance: 0,
};

/** Computed with `weighDay`, which the ranking uses. */
function examples(): string {
  const [players, votes] = [12, 500];
  const newcomers = { regulars: 0, newcomers: votes };
  const apart = weighDay({ ...NO_VOTES, players: { most: players, usual: players }, form: newcomers });
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

type Honest = {
  server: Text;
  /** On the first days (`DAYS_UNTIL_USUAL`), and after them. */
  days: [Partial<DayEvidence>, Partial<DayEvidence>];
  remedy: () => string;
};

const form = (regulars: number, newcomers: number) => ({ regulars, newcomers });
const seen = (most: number, usual: number) => ({ most, usual });
const unknown = (votes: number) => ({ regulars: 0, newcomers: 0, unknown: votes });

const HONEST: Honest[] = [
  {
    server: defineMessage('A large server that joins: 600 players, 420 votes a day'),
    days: [
      { players: seen(600, 0), form: form(0, 420) },
      { players: seen(600, 600), form: form(380, 40) },
    ],
    remedy: () => t('An operator can allow the votes of the first days.'),
  },
  {
    server: defineMessage('The same, with votes that were imported from another list'),
    days: [
      { players: seen(600, 0), form: form(380, 40) },
      { players: seen(600, 600), form: form(380, 40) },
    ],
    remedy: () => t('With its imported history of players, all count at once.'),
  },
  {
    server: defineMessage('A video brings 370 players and 600 votes a day to a server with 30 and 40'),
    days: [
      { players: seen(400, 30), form: form(40, 600) },
      { players: seen(400, 400), form: form(40, 600) },
    ],
    remedy: () => t('An operator can allow the votes of the first days.'),
  },
  {
    server: defineMessage('A small server: 12 players, 37 votes a day'),
    days: [
      { players: seen(12, 0), form: form(33, 4) },
      { players: seen(12, 12), form: form(33, 4) },
    ],
    remedy: () => t('Nothing is needed.'),
  },
  {
    server: defineMessage('The same, and all its votes come through the API'),
    days: [
      { players: seen(12, 0), api: unknown(37) },
      { players: seen(12, 12), api: unknown(37) },
    ],
    remedy: () =>
      t(
        'An operator allows its votes, with one press. Or its players vote on the page {known} times: then their names are known.',
        { known: KNOWN_AFTER },
      ),
  },
];

function honestServers(): Html {
  const kept = ({ days }: Honest, i: 0 | 1) => {
    const evidence = { ...NO_VOTES, players: null, ...days[i] };
    const { form, api } = evidence;
    const votes = form.regulars + form.newcomers + api.regulars + api.newcomers + api.unknown;
    return t('{counted} of {votes}', {
      counted: decimal(weighDay(evidence).tenths / 10),
      votes: count(votes),
    });
  };
  return dataTable({
    caption: t('What honest servers keep'),
    rows: HONEST,
    empty: '',
    columns: [
      { title: t('Server'), heads: true, cell: ({ server }) => t(server) },
      {
        title: t('Counted a day, first {days} days', { days: DAYS_UNTIL_USUAL }),
        kind: 'number',
        cell: (one) => kept(one, 0),
      },
      { title: t('After them'), kind: 'number', cell: (one) => kept(one, 1) },
      { title: t('What helps'), cell: ({ remedy }) => remedy() },
    ],
  });
}
