import { isIP } from 'node:net';
import { isProbed } from '../../games/games.ts';
import { t } from '../../language/t.ts';
import { after } from '../../platform/clock.ts';
import { hostAndPort } from '../../platform/host-and-port.ts';
import { plainText } from '../../probing/minecraft-text.ts';
import { recordName, recordText } from '../../servers/drafts.ts';
import { DRAFT_TTL_MS, type DraftCheck, type ServerDraft } from '../../servers/server-draft.ts';
import { count, counted, day, timeAgo } from '../shared/format.ts';
import { gameName } from '../shared/game-names.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { button, card, copyable, notice } from '../shared/parts.ts';

type Shown = {
  draft: ServerDraft;
  now: Date;
  /** The path that starts a check. */
  action: string;
  /** The path where the address can be edited. */
  correct: string;
};

/** The result of the latest check, and the ways to verify ownership. */
export function ownershipProofCards({ draft, now, action, correct }: Shown): Html {
  const { check } = draft;
  return html`${check ? checkCard(draft, check, correct, now) : ''}${proofCard(draft, action)}`;
}

function checkCard(draft: ServerDraft, check: DraftCheck, correct: string, now: Date): Html {
  const message = (motd: string) => html`<div>
    <p class="soft small">${t('Message (MOTD) or name')}</p>
    <pre class="block" dir="auto">${plainText(motd)}</pre>
  </div>`;
  return card({
    id: 'check',
    title: t('Check result'),
    actions: html`<span class="soft small">${timeAgo(check.at, now)}</span>`,
    body: html`${reached(draft, check, correct)}
      ${check.reached && check.motd ? message(check.motd) : ''}
      <ul class="plain">
        ${check.reached ? html`<li>${messageResult(draft, check)}</li>` : ''}
        <li>${dnsResult(draft, check)}</li>
      </ul>`,
  });
}

/** The card with the ways to prove the ownership. `action` is the path that starts a check. */
function proofCard(draft: ServerDraft, action: string): Html {
  const ways = [
    ...(isProbed(draft.game) ? [messageWay(draft)] : []),
    ...(hasName(draft) ? [dnsWay(draft)] : []),
  ];
  const what = ways.length > 1 ? t('Choose one of these ways, then check.') : t('Do this, then check.');
  const noWay = t(
    'We cannot verify an IP address without a game that we can query. Enter a host name, choose a game, or contact the operator of this listing.',
  );
  const lastDay = day(after(draft.createdAt, DRAFT_TTL_MS));
  return card({
    title: t('Verify ownership'),
    body: html`<p>${what} ${t('You only need to do this once and can remove the code afterwards.')}</p>
      ${ways.length === 0 ? notice('attention', noWay) : ways}
      <div class="actions">${button({ to: action, text: t('Check now'), kind: 'primary' })}</div>
      <p class="soft small">${t('Your entries are kept until {day}.', { day: lastDay })}</p>`,
  });
}

function reached({ game, address, port }: ServerDraft, check: DraftCheck, correct: string): Html {
  if (check.reached) {
    const { latencyMs, version } = check;
    const players = playersOf(check);
    const reply = t('Server reached: {players}, {latencyMs} ms', {
      players,
      latencyMs: count(Math.round(latencyMs)),
    });
    return notice('good', html`${reply}${version ? html` <span class="soft">(${version})</span>` : ''}`);
  }
  if (!isProbed(game)) {
    return notice(
      'quiet',
      game
        ? t(
            'We cannot query {game} servers, so we cannot check this server. Its status will come from its own reports. Verify it with a DNS record.',
            { game: gameName(game) },
          )
        : t(
            'Without a game, we cannot check this server. Its status will come from its own reports. Verify it with a DNS record.',
          ),
    );
  }
  const advice = t(
    'The server must answer once before it is listed. <a>Edit your entries</a>, or start the server and check again. If the server does not answer queries by design, leave the game empty.',
    { a: (text) => html`<a href="${correct}">${text}</a>` },
  );
  return notice(
    'bad',
    html`<p>${t('We could not reach {address}.', { address: hostAndPort(address, port) })} ${check.words}</p>
      <p>${advice}</p>`,
  );
}

function playersOf({ onlinePlayers, playersHidden, maxPlayers }: DraftCheck): string {
  if (playersHidden) return t('players hidden');
  if (maxPlayers === 0) return counted(onlinePlayers, 'player');
  return t('{online} of {most, plural, one {# player} other {# players}}', {
    online: count(onlinePlayers),
    most: maxPlayers,
  });
}

function messageResult({ code }: ServerDraft, { motd, messageCounts }: DraftCheck): Content {
  const shows = plainText(motd).toLowerCase().includes(code);
  if (!messageCounts) {
    return t(
      'We cannot accept its message: it comes from a query port that anyone on the same machine could have opened. Use the DNS record.',
    );
  }
  return shows ? t('Code found in the message.') : t('Code not found in the message yet.');
}

function dnsResult({ address }: ServerDraft, { dns }: DraftCheck): Content {
  switch (dns) {
    case 'found':
      return t('DNS record found.');
    case 'wrong':
      return t('The DNS record <code>{address}</code> has a different code.', {
        address: recordName(address),
      });
    case 'none':
      return t(
        'DNS record <code>{address}</code> not found yet. A new record may take some minutes to appear.',
        { address: recordName(address) },
      );
    case 'no-answer':
      return t('The name servers of <code>{address}</code> did not answer.', { address });
    case 'no-name':
      return t('An IP address has no DNS record. Use the message.');
  }
}

function messageWay({ code }: ServerDraft): Html {
  return html`<section class="way">
    <h3>${t('Message (MOTD)')}</h3>
    <p>${t('Add this code anywhere in the server’s name or message (MOTD), and restart or reload the server.')}</p>
    ${copyable(code, t('the code'))}
  </section>`;
}

/** Whether the address is a host name. If it is an IP address, no DNS record can prove the ownership. */
function hasName({ address }: ServerDraft): boolean {
  return isIP(address) === 0;
}

function dnsWay({ address, code }: ServerDraft): Html {
  return html`<section class="way">
    <h3>${t('DNS record')}</h3>
    <p>${t('Create a TXT record with this name and value.')}</p>
    ${copyable(recordName(address), t('the record’s name'))} ${copyable(recordText(code), t('the record’s value'))}
  </section>`;
}
