import type { WithId } from 'mongodb';
import { t } from '../../language/t.ts';
import type { Server } from '../../servers/server.ts';
import type { ServerDraft } from '../../servers/server-draft.ts';
import { LONGEST_HOW_TO_VOTE } from '../../servers/vote-options.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { count } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { button, card, confirmed, notice } from '../shared/parts.ts';
import { serverAddress } from '../shared/server-status.ts';
import { writtenText } from '../shared/written-text.ts';
import { addressFields, gameFields, serverNameField, valuesOf } from './server-fields.ts';

export function detailsCard(path: string, server: WithId<Server>, typed = valuesOf(server)): Html {
  const hint = t(
    'The server’s id stays the same. A new name changes the page’s address; the old address redirects.',
  );
  return card({
    title: t('Details'),
    body: html`<form method="post" action="${path}" class="stack">
      ${serverNameField(typed)} ${gameFields(typed)}
      <p class="hint">${hint}</p>
      <button type="submit">${t('Save')}</button>
    </form>`,
  });
}

export function voteFormCard(path: string, { webVotes }: Server): Html {
  const isOn = webVotes !== false;
  const about = isOn
    ? t(
        'Players can vote on the page of your server. A vote needs no account; bulk voting is limited by network, and unusual votes wait for the operator of this listing.',
      )
    : t('The page of your server has no vote form. Players vote only with your plugin or website.');
  return card({
    id: 'vote-form',
    title: t('Vote form'),
    body: html`<p>${about}</p>
      ${button({
        to: path,
        text: isOn ? t('Switch the vote form off') : t('Switch the vote form on'),
        hidden: { webVotes: isOn ? 'off' : 'on' },
      })}`,
  });
}

/** The card for the owner's text about rewards and how to vote. `preview` is an entered text that is not saved. */
export function howToVoteCard(
  path: string,
  { howToVote }: Server,
  { typed = UNTOUCHED, preview }: { typed?: Typed | undefined; preview?: string | undefined },
): Html {
  const field = fieldsOf(typed).area('howToVote', {
    label: t('Rewards and how to vote'),
    hint: t('Up to {characters} characters of plain text. URLs that begin with https:// become links.', {
      characters: count(LONGEST_HOW_TO_VOTE),
    }),
    rows: 6,
    value: howToVote ?? '',
  });
  const shown = preview ?? howToVote;
  const heading = preview === undefined ? t('As players see it') : t('Preview (not saved)');
  return card({
    id: 'how-to-vote',
    title: t('How to vote'),
    isResult: preview !== undefined,
    body: html`<form method="post" action="${path}" class="stack">
        ${field}
        <div class="actions">
          <button type="submit">${t('Save')}</button>
          <button type="submit" class="quiet" name="do" value="preview">${t('Preview')}</button>
        </div>
      </form>
      ${shown ? html`<section><h3>${heading}</h3>${writtenText(shown)}</section>` : ''}`,
  });
}

/** The card for the address. `move` is set if the owner entered a new address whose ownership is not proven yet. */
export function addressCard(
  path: string,
  server: WithId<Server>,
  move: ServerDraft | null,
  typed = valuesOf(move ?? server),
): Html {
  const hint = t(
    'You need to verify ownership of the new address. Votes, tokens and the vote listener are kept.',
  );
  return card({
    id: 'place',
    title: t('Address'),
    body: html`${move ? pendingMove(path, server, move) : ''}
      <form method="post" action="${path}" class="stack">
        ${addressFields(typed)}
        <p class="hint">${hint}</p>
        <button type="submit" class="quiet">${move ? t('Change') : t('Move to this address')}</button>
      </form>`,
  });
}

function pendingMove(path: string, server: Server, move: ServerDraft): Content {
  const sentence = t(
    'The server will move to {address} after you verify ownership. Until then it stays at {present}.',
    {
      address: html`<span class="mono">${serverAddress(move)}</span>`,
      present: html`<span class="mono">${serverAddress(server)}</span>`,
    },
  );
  return html`${notice('attention', sentence)}
    ${button({ to: `${path}/discard`, text: t('Cancel move') })}`;
}

export function removeCard(path: string, { name }: Server, typed = UNTOUCHED): Html {
  const consequence = t(
    '<bdi>{name}</bdi> is removed permanently: its tokens stop working, waiting votes are not delivered, and its page is deleted. Its id is never used again. If you add the server again, it starts from zero.',
    { name },
  );
  return card({
    title: t('Remove server'),
    body: confirmed({
      text: t('Remove server'),
      consequence,
      isOpen: Boolean(typed.errors.name),
      form: html`<form method="post" action="${path}" class="stack">
        ${fieldsOf(typed).text('name', {
          id: 'removal',
          label: t('Name of the server'),
          required: true,
          autocomplete: 'off',
          spellcheck: false,
        })}
        <button type="submit" class="danger">${t('Remove permanently')}</button>
      </form>`,
    }),
  });
}
