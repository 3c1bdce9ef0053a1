import { isIP } from 'node:net';
import { html } from 'hono/html';
import { recordName, recordText } from '../../listing/check-draft.ts';
import { after } from '../../platform/clock.ts';
import { plainText } from '../../probing/minecraft-text.ts';
import { DRAFT_TTL_MS, type DraftCheck, type ServerDraft } from '../../servers/server-draft.ts';
import type { Content, Html } from '../html.ts';
import { button, card, copyable, notice } from '../parts.ts';
import { count, counted, day, timeAgo } from '../words.ts';

type Shown = {
  draft: ServerDraft;
  now: Date;
  /** Where the check is asked for. */
  action: string;
  /** Where the address can be corrected. */
  correct: string;
};

/** What the newest check saw, and how the server is shown to be its owner's. */
export function proofCards({ draft, now, action, correct }: Shown): Html {
  const { check, game } = draft;
  return html`${check ? card({ id: 'check', title: 'What we saw', actions: html`<span class="soft small">${timeAgo(check.at, now)}</span>`, body: seen(draft, check, correct) }) : ''}
    ${card({
      title: 'Show that it is yours',
      body: html`<p>${game && hasName(draft) ? 'Do one of these' : 'Do this'}, then let us check. It is needed once, and can be taken away again afterwards.</p>
        ${game || hasName(draft) ? '' : notice('attention', 'An IP address without a game leaves nothing to show: enter a host name, or choose the game. Else ask the operator of this listing.')}
        ${game ? messageWay(draft) : ''} ${hasName(draft) ? dnsWay(draft) : ''}
        <div class="actions">${button({ to: action, text: 'Check now', kind: 'primary' })}</div>
        <p class="soft small">What you entered is kept until ${day(after(draft.createdAt, DRAFT_TTL_MS))}.</p>`,
    })}`;
}

function seen(draft: ServerDraft, check: DraftCheck, correct: string): Html {
  return html`${reached(draft, check, correct)}
    ${check.reached && check.motd ? html`<div><p class="soft small">Its message or name</p><pre class="block" dir="auto">${plainText(check.motd)}</pre></div>` : ''}
    <ul class="plain">
      ${check.reached ? html`<li>${messageSeen(draft, check)}</li>` : ''}
      <li>${dnsSeen(draft, check)}</li>
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
      html`We reached it: ${players}, ${count(Math.round(latencyMs))} ms${version ? html` <span class="soft">(${version})</span>` : ''}`,
    );
  }
  if (!game) {
    return notice(
      'quiet',
      'Without a game nobody knows how to ask this server: it will live by its own reports. Prove it by its DNS record.',
    );
  }
  return notice(
    'bad',
    html`<p>We did not reach ${address}:${String(port)}. ${check.words}</p>
      <p>It must answer once before it is listed. <a href="${correct}">Correct what you entered</a>, or start the server and check again. If it keeps silent on purpose, leave the game empty.</p>`,
  );
}

function messageSeen({ code }: ServerDraft, { motd, messageCounts }: DraftCheck): Content {
  const shows = plainText(motd).toLowerCase().includes(code);
  if (!messageCounts) {
    return 'Its message does not count: it comes from a query port that anybody on the same machine could have opened. Use the DNS record.';
  }
  return shows ? 'The code stands in its message.' : 'The code does not stand in its message yet.';
}

function dnsSeen({ address }: ServerDraft, { dns }: DraftCheck): Content {
  switch (dns) {
    case 'found':
      return 'The DNS record is right.';
    case 'wrong':
      return html`The record <code>${recordName(address)}</code> holds another code.`;
    case 'none':
      return html`There is no record <code>${recordName(address)}</code> yet. A new one may take some minutes to be seen.`;
    case 'no-answer':
      return html`The name servers of <code>${address}</code> gave no answer about the record.`;
    case 'no-name':
      return 'An IP address has no DNS record: use the message.';
  }
}

function messageWay({ code }: ServerDraft): Html {
  return html`<section class="way">
    <h3>In its message</h3>
    <p>Put this code anywhere into the server’s name or message (MOTD), and restart or reload the server.</p>
    ${copyable(code, 'the code')}
  </section>`;
}

/** An IP address has no records. */
function hasName({ address }: ServerDraft): boolean {
  return isIP(address) === 0;
}

function dnsWay({ address, code }: ServerDraft): Html {
  return html`<section class="way">
    <h3>In your DNS</h3>
    <p>Make a record of the type TXT with this name and this text.</p>
    ${copyable(recordName(address), 'the record’s name')} ${copyable(recordText(code), 'the record’s text')}
  </section>`;
}
