import { isIP } from 'node:net';
import { html } from 'hono/html';
import { isProbed } from '../../games/games.ts';
import { recordName, recordText } from '../../listing/check-draft.ts';
import { after } from '../../platform/clock.ts';
import { plainText } from '../../probing/minecraft-text.ts';
import { DRAFT_TTL_MS, type DraftCheck, type ServerDraft } from '../../servers/server-draft.ts';
import type { Content, Html } from '../html.ts';
import { button, card, copyable, notice } from '../parts.ts';
import { count, counted, day, timeAgo } from '../words.ts';
import { gameName } from './server-fields.ts';

type Shown = {
  draft: ServerDraft;
  now: Date;
  /** The path that starts a check. */
  action: string;
  /** The path where the address can be edited. */
  correct: string;
};

/** The result of the latest check, and the ways to verify ownership. */
export function proofCards({ draft, now, action, correct }: Shown): Html {
  const { check, game } = draft;
  const canAsk = isProbed(game);
  return html`${check ? card({ id: 'check', title: 'Check result', actions: html`<span class="soft small">${timeAgo(check.at, now)}</span>`, body: checkResult(draft, check, correct) }) : ''}
    ${card({
      title: 'Verify ownership',
      body: html`<p>${canAsk && hasName(draft) ? 'Choose one of these ways' : 'Do this'}, then check. You only need to do this once and can remove the code afterwards.</p>
        ${canAsk || hasName(draft) ? '' : notice('attention', 'We cannot verify an IP address without a game that we can query. Enter a host name, choose a game, or contact the operator of this listing.')}
        ${canAsk ? messageWay(draft) : ''} ${hasName(draft) ? dnsWay(draft) : ''}
        <div class="actions">${button({ to: action, text: 'Check now', kind: 'primary' })}</div>
        <p class="soft small">Your entries are kept until ${day(after(draft.createdAt, DRAFT_TTL_MS))}.</p>`,
    })}`;
}

function checkResult(draft: ServerDraft, check: DraftCheck, correct: string): Html {
  return html`${reached(draft, check, correct)}
    ${check.reached && check.motd ? html`<div><p class="soft small">Message (MOTD) or name</p><pre class="block" dir="auto">${plainText(check.motd)}</pre></div>` : ''}
    <ul class="plain">
      ${check.reached ? html`<li>${messageResult(draft, check)}</li>` : ''}
      <li>${dnsResult(draft, check)}</li>
    </ul>`;
}

function reached({ game, address, port }: ServerDraft, check: DraftCheck, correct: string): Html {
  if (check.reached) {
    const { onlinePlayers, maxPlayers, latencyMs, version } = check;
    const players =
      maxPlayers > 0
        ? `${count(onlinePlayers)} of ${counted(maxPlayers, 'player')}`
        : counted(onlinePlayers, 'player');
    return notice(
      'good',
      html`Server reached: ${players}, ${count(Math.round(latencyMs))} ms${version ? html` <span class="soft">(${version})</span>` : ''}`,
    );
  }
  if (!isProbed(game)) {
    return notice(
      'quiet',
      `${game ? `We cannot query ${gameName(game)} servers, so` : 'Without a game,'} we cannot check this server. Its status will come from its own reports. Verify it with a DNS record.`,
    );
  }
  return notice(
    'bad',
    html`<p>We could not reach ${address}:${String(port)}. ${check.words}</p>
      <p>The server must answer once before it is listed. <a href="${correct}">Edit your entries</a>, or start the server and check again. If the server does not answer queries by design, leave the game empty.</p>`,
  );
}

function messageResult({ code }: ServerDraft, { motd, messageCounts }: DraftCheck): Content {
  const shows = plainText(motd).toLowerCase().includes(code);
  if (!messageCounts) {
    return 'We cannot accept its message: it comes from a query port that anyone on the same machine could have opened. Use the DNS record.';
  }
  return shows ? 'Code found in the message.' : 'Code not found in the message yet.';
}

function dnsResult({ address }: ServerDraft, { dns }: DraftCheck): Content {
  switch (dns) {
    case 'found':
      return 'DNS record found.';
    case 'wrong':
      return html`The DNS record <code>${recordName(address)}</code> has a different code.`;
    case 'none':
      return html`DNS record <code>${recordName(address)}</code> not found yet. A new record may take some minutes to appear.`;
    case 'no-answer':
      return html`The name servers of <code>${address}</code> did not answer.`;
    case 'no-name':
      return 'An IP address has no DNS record. Use the message.';
  }
}

function messageWay({ code }: ServerDraft): Html {
  return html`<section class="way">
    <h3>Message (MOTD)</h3>
    <p>Add this code anywhere in the server’s name or message (MOTD), and restart or reload the server.</p>
    ${copyable(code, 'the code')}
  </section>`;
}

/** An IP address has no records. */
function hasName({ address }: ServerDraft): boolean {
  return isIP(address) === 0;
}

function dnsWay({ address, code }: ServerDraft): Html {
  return html`<section class="way">
    <h3>DNS record</h3>
    <p>Create a TXT record with this name and value.</p>
    ${copyable(recordName(address), 'the record’s name')} ${copyable(recordText(code), 'the record’s value')}
  </section>`;
}
