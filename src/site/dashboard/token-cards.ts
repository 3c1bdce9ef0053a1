import type { WithId } from 'mongodb';
import { defineMessage, filled, type Text, t } from '../../language/t.ts';
import { DAY, HOUR } from '../../platform/clock.ts';
import { type ApiToken, kindOf, scopesOf, type TokenKind } from '../../servers/api-token.ts';
import { isOld, isValid } from '../../servers/api-tokens.ts';
import { REVOKED_WITHIN_SECONDS } from '../../servers/authenticate-token.ts';
import type { VrcFile } from '../../votes/claims/vrc-file.ts';
import { day, timeAgo } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import {
  badge,
  button,
  type Column,
  card,
  confirmed,
  copyable,
  dataTable,
  notice,
  type Tone,
} from '../shared/parts.ts';
import { newIdField } from './hidden-ids.ts';
import { SOON_DAYS } from './token-lifetimes.ts';

/** How long the old token stays valid after a rotation, in milliseconds. */
export const OVERLAPS = { '0': 0, '1h': HOUR, '1d': DAY, '7d': 7 * DAY } as const;
const OVERLAP_TEXTS: [keyof typeof OVERLAPS, Text][] = [
  ['1h', defineMessage('for 1 hour')],
  ['1d', defineMessage('for 1 day')],
  ['7d', filled(defineMessage('for {days} days'), { days: OVERLAPS['7d'] / DAY })],
  ['0', defineMessage('no longer')],
];

export function oldTokensNotice(tokens: ApiToken[], now: Date): Content {
  const old = tokens.filter((token) => isOld(token, now)).length;
  if (old === 0) return '';
  return notice(
    'attention',
    t(
      '{old, plural, one {# token is over a year old and never expires.} other {# tokens are over a year old and never expire.}} Replace what is in use, and revoke the rest.',
      { old },
    ),
  );
}

/** The table of the valid tokens with their actions, and a list of the others. `path`: that of the page. */
export function tokenTable(
  path: string,
  tokens: WithId<ApiToken>[],
  makerNameOf: (token: ApiToken) => string,
  now: Date,
): Html {
  const valid = tokens.filter((token) => isValid(token, now));
  const invalid = tokens.filter((token) => !isValid(token, now));
  const columns: Column<WithId<ApiToken>>[] = [
    {
      title: t('Name'),
      heads: true,
      cell: ({ name, prefix, ...token }) =>
        html`<span><bdi>${name}</bdi>${limitsOf(token)}<br /><span class="mono soft">${prefix}…</span></span>`,
    },
    { title: t('Made by'), cell: (token) => html`<bdi>${makerNameOf(token)}</bdi>` },
    { title: t('Created'), cell: ({ createdAt }) => timeAgo(createdAt, now) },
    {
      title: t('Last used'),
      cell: ({ lastUsedAt }) =>
        lastUsedAt ? timeAgo(lastUsedAt, now) : html`<span class="soft">${t('never')}</span>`,
    },
    { title: t('State'), cell: (token) => stateOf(token, now) },
  ];
  const actions = { title: t('Actions'), cell: (token: WithId<ApiToken>) => tokenActions(path, token) };
  return html`${dataTable({
    caption: t('Valid tokens'),
    rows: valid.toReversed(),
    columns: [...columns, actions],
    empty: t('No valid tokens. Create one below for your plugin or website.'),
  })}
  ${invalid.length === 0 ? '' : invalidTokens(invalid, columns)}`;
}

function invalidTokens(tokens: WithId<ApiToken>[], columns: Column<WithId<ApiToken>>[]): Html {
  return html`<details>
    <summary>${t('Revoked and expired ({invalid})', { invalid: String(tokens.length) })}</summary>
    ${dataTable({
      caption: t('Revoked and expired tokens'),
      rows: tokens.toReversed(),
      columns,
      empty: '',
    })}
  </details>`;
}

function limitsOf(token: Pick<ApiToken, 'kind' | 'scopes'>): string {
  if (kindOf(token) === 'claim') return ` (${t('claim key')})`;
  if (kindOf(token) === 'deliver') return ` (${t('delivery token')})`;
  return token.scopes ? ` (${t('only {scopes}', { scopes: scopesOf(token).join(', ') })})` : '';
}

function stateOf(token: ApiToken, now: Date): Html {
  const { revokedAt, expiresAt } = token;
  if (revokedAt) return html`<span>${badge('bad', t('revoked'))} ${timeAgo(revokedAt, now)}</span>`;
  if (!expiresAt) {
    if (!isOld(token, now)) return badge('good', t('valid'));
    return validUntil('attention', t('over a year old, never expires'));
  }
  if (expiresAt <= now) return html`<span>${badge('bad', t('expired'))} ${timeAgo(expiresAt, now)}</span>`;
  const isSoon = expiresAt.getTime() - now.getTime() < SOON_DAYS * DAY;
  return isSoon
    ? validUntil('attention', t('expires {time}', { time: timeAgo(expiresAt, now) }))
    : validUntil('good', t('expires {time}', { time: day(expiresAt) }));
}

function validUntil(tone: Tone, end: Content): Html {
  return html`<span>${badge(tone, t('valid'))} <span class="small soft">${end}</span></span>`;
}

function tokenActions(tokensPath: string, { _id, name }: WithId<ApiToken>): Html {
  const path = `${tokensPath}/${_id.toHexString()}`;
  const rotate = html`<form method="post" action="${path}/rotate" class="stack">
    ${newIdField()}
    <label>${t('Keep the old token valid')}
      <select name="overlap">
        ${OVERLAP_TEXTS.map(([value, text]) => html`<option value="${value}">${t(text)}</option>`)}
      </select></label>
    <button type="submit">${t('Replace token')}</button>
  </form>`;
  return html`<div class="actions">
    ${confirmed({
      text: t('Replace'),
      of: name,
      consequence: t(
        'A new token with the same name and lifetime is created and shown once. You are its maker.',
      ),
      form: rotate,
    })}
    ${confirmed({
      text: t('Revoke'),
      of: name,
      consequence: t('The token stops working within {seconds} seconds. This cannot be undone.', {
        seconds: REVOKED_WITHIN_SECONDS,
      }),
      form: button({ to: `${path}/revoke`, text: t('Revoke token'), kind: 'danger', of: name }),
    })}
  </div>`;
}

/** The card with a new token. `vrcOf` makes the file for VoteReward of a claim key. */
export function shownOnce(token: string, kind: TokenKind, vrcOf: (key: string) => VrcFile): Html {
  if (kind === 'claim') return claimKeyShownOnce(token, vrcOf(token));
  if (kind === 'deliver') return deliveryTokenShownOnce(token);
  return html`<section class="card new-token">
    <h2>${t('Your new token')}</h2>
    <p>${t('Copy it now: it is shown only once. Anyone who has it can do for this server what you chose.')}</p>
    ${copyable(token, t('the token'))}
  </section>`;
}

function claimKeyShownOnce(key: string, file: VrcFile): Html {
  const once = t(
    'Copy it now: it is shown only once. It may only check and claim votes of this server, since plugins send it in addresses.',
  );
  const where = t(
    'Save it as a file that ends with <code>.vrc</code> in the folder <code>Lists</code> of VoteReward’s data folder.',
  );
  return html`<section class="card new-token">
    <h2>${t('Your new claim key')}</h2>
    <p>${once}</p>
    ${copyable(key, t('the claim key'))}
    <h3>${t('File for VoteReward (PocketMine)')}</h3>
    <p>${where}</p>
    ${copyable(JSON.stringify(file, null, 2), t('the file'))}
  </section>`;
}

function deliveryTokenShownOnce(token: string): Html {
  const once = t(
    'Copy it now: it is shown only once. It may only fetch votes of this server and report what became of them. The relay and the two lines for it are under “Connect”.',
  );
  return html`<section class="card new-token">
    <h2>${t('Your new delivery token')}</h2>
    <p>${once}</p>
    ${copyable(token, t('the delivery token'))}
  </section>`;
}

/** The API calls as curl commands, with a new token if there is one. `address`: the URL of the API for this server. */
export function callsCard(address: string, token: string | undefined): Html {
  // The quotes are double quotes, so that the shell expands `$TOKEN`.
  const call = (endpoint: string, ...rest: string[]) =>
    [`curl "${address}/${endpoint}"`, `-H "Authorization: Bearer ${token ?? '$TOKEN'}"`, ...rest].join(
      ' \\\n  ',
    );
  const json = (body: object) => ['-H "Content-Type: application/json"', `-d '${JSON.stringify(body)}'`];
  const calls = [
    [t('Cast a vote'), call('vote', ...json({ username: 'Steve' }))],
    [t('Check whether a player has voted'), call('check-vote?username=Steve')],
    [t('List votes'), call('votes?limit=10')],
    [t('List the top voters of this month'), call('top-voters?month=current')],
    [t('Report the status'), call('status', ...json({ online_players: 12, max_players: 64 }))],
    [t('Get the server’s statistics'), call('info')],
    [t('List reviews'), call('reviews?page=1&limit=10')],
  ] as const;
  const intro = token
    ? t('With your new token:')
    : html`${t('Set your token once with <code>TOKEN=tp_…</code>, then:')}`;
  return card({
    title: t('Example calls'),
    body: html`<p>${intro}</p>
    ${calls.map(
      ([title, line]) =>
        html`<div><h3>${title}</h3>${copyable(line, t('the call: {title}', { title }))}</div>`,
    )}`,
  });
}
