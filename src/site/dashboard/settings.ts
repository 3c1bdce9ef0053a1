import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import type { WithId } from 'mongodb';
import { proveMove } from '../../listing/prove-draft.ts';
import { removeServer } from '../../listing/remove-server.ts';
import { discardMove, findMove, saveMove } from '../../servers/drafts.ts';
import { LONGEST_HOW_TO_VOTE, readHowToVote, setHowToVote } from '../../servers/how-to-vote.ts';
import { editServer, resetsProbe } from '../../servers/listing.ts';
import type { Server } from '../../servers/server.ts';
import type { ServerDraft } from '../../servers/server-draft.ts';
import { isByOperator, serverOf, userOf } from '../access.ts';
import { checkTaker } from '../check-allowance.ts';
import { PageError } from '../error-pages.ts';
import { errorsOf, readForm, type Typed, typedValues, UNTOUCHED, withError } from '../form.ts';
import type { Content, Html } from '../html.ts';
import { sendPage } from '../layout.ts';
import { OWNER } from '../page-route.ts';
import { button, card, confirmed, notice, textArea } from '../parts.ts';
import { writtenText } from '../plain-text.ts';
import type { DashboardSources } from './dashboard-sources.ts';
import { afterProving } from './drafts.ts';
import { proofCards } from './proof.ts';
import { addressFields, addressForm, detailsForm, gameFields, nameField, valuesOf } from './server-fields.ts';
import { addressOf, serverFrame, serverPath } from './server-frame.ts';

const SAYS = {
  saved: 'Your changes are saved.',
  'saved-text': 'Your text about voting is saved.',
  'kept-place': 'The server stays where it is.',
};

type Showing = {
  details?: Typed;
  place?: Typed;
  howToVote?: Typed;
  /** The text is shown as players will see it, and not stored yet. */
  preview?: string;
  status?: number;
};

/** `/dashboard/servers/<id>/settings`: what an owner changes of a server, where it is, and its end. */
export function settingsPages(app: FastifyInstance, { platform, ask }: DashboardSources): void {
  const { base } = app.site;
  const useCheck = checkTaker(platform);
  const pathOf = (server: WithId<Server>, rest = '') => serverPath(base, server, `/settings${rest}`);

  const show = async (request: FastifyRequest, reply: FastifyReply, showing: Showing = {}) => {
    const server = serverOf(request);
    const now = platform.clock.now();
    const move = await findMove(platform, server._id);
    const paths = { form: pathOf(server), place: pathOf(server, '/place') };
    const body = html`${detailsCard(paths.form, server, showing.details)}
      ${howToVoteCard(pathOf(server, '/how-to-vote'), server, showing)}
      ${placeCard(paths.place, server, move, showing.place)}
      ${move ? proofCards({ draft: move, now, action: `${paths.place}/check`, correct: `${paths.form}#place` }) : ''}
      ${removeCard(pathOf(server, '/remove'), server)}`;
    return sendPage(
      request,
      reply,
      {
        title: `Settings · ${server.name}`,
        says: SAYS,
        body: serverFrame({ base, server, now, part: '/settings', body }),
      },
      showing.status,
    );
  };

  app.get('/servers/:serverId/settings', OWNER, (request, reply) => show(request, reply));

  app.post('/servers/:serverId/settings', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const { data, typed } = readForm(detailsForm, request);
    if (!data) throw new PageError(400, 'The form was not sent whole. Load the page again.');
    const refused = resetsProbe(server, data) ? await useCheck(request, reply) : null;
    if (refused) return show(request, reply, { details: withError(typed, refused), status: 429 });
    try {
      await editServer(platform, server._id, data, userOf(request).email);
    } catch (error) {
      return show(request, reply, { details: errorsOf(error, typed.values), status: 400 });
    }
    return reply.redirect(`${pathOf(server)}?done=saved`, 303);
  });

  app.post('/servers/:serverId/settings/how-to-vote', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const values = typedValues(request);
    try {
      const text = readHowToVote(values.howToVote ?? '');
      if (values.do === 'preview')
        return await show(request, reply, { howToVote: { values, errors: {} }, preview: text });
      await setHowToVote(platform, server._id, text, userOf(request).email);
    } catch (error) {
      return show(request, reply, { howToVote: errorsOf(error, values), status: 400 });
    }
    return reply.redirect(`${pathOf(server)}?done=saved-text#how-to-vote`, 303);
  });

  app.post('/servers/:serverId/settings/place', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const user = userOf(request);
    const { data, typed } = readForm(addressForm, request);
    if (!data) throw new PageError(400, 'The form was not sent whole. Load the page again.');
    const refused = isByOperator(platform, request) ? await useCheck(request, reply) : null;
    if (refused) return show(request, reply, { place: withError(typed, refused), status: 429 });
    try {
      if (isByOperator(platform, request)) {
        // An operator's word is proof enough, as it is at the command line.
        await editServer(platform, server._id, data, user.email);
        return reply.redirect(`${pathOf(server)}?done=saved`, 303);
      }
      await saveMove(platform, server, data, user._id);
    } catch (error) {
      return show(request, reply, { place: errorsOf(error, typed.values), status: 400 });
    }
    return provePlace(request, reply);
  });

  const provePlace = (request: FastifyRequest, reply: FastifyReply) => {
    const server = serverOf(request);
    const proved = proveMove({ ...platform, ask }, userOf(request), server._id);
    return afterProving(reply, base, proved, pathOf(server), 'moved');
  };
  app.post('/servers/:serverId/settings/place/check', OWNER, provePlace);

  app.post('/servers/:serverId/settings/place/discard', OWNER, async (request, reply) => {
    const server = serverOf(request);
    await discardMove(platform, server._id);
    return reply.redirect(`${pathOf(server)}?done=kept-place`, 303);
  });

  app.post('/servers/:serverId/settings/remove', OWNER, async (request, reply) => {
    const server = serverOf(request);
    await removeServer(platform, server._id, userOf(request).email);
    return reply.redirect(`${base}/dashboard?done=removed`, 303);
  });
}

function detailsCard(path: string, server: WithId<Server>, typed = valuesOf(server)): Html {
  return card({
    title: 'Details',
    body: html`${typed.errors.form ? notice('bad', typed.errors.form) : ''}
      <form method="post" action="${path}" class="stack">
        ${nameField(typed)} ${gameFields(typed)}
        <p class="hint">The server’s id stays the same. A new name gives its page a new address, to which the old one leads.</p>
        <button type="submit">Save</button>
      </form>`,
  });
}

function howToVoteCard(path: string, server: WithId<Server>, { howToVote, preview }: Showing): Html {
  const { values, errors } = howToVote ?? UNTOUCHED;
  const shown = preview ?? server.howToVote ?? '';
  return card({
    id: 'how-to-vote',
    title: 'How to vote',
    body: html`<form method="post" action="${path}#how-to-vote" class="stack">
        ${textArea({ name: 'howToVote', label: 'What players get for a vote, and how they vote', hint: `Up to ${LONGEST_HOW_TO_VOTE.toLocaleString('en-GB')} characters of plain text. Addresses that begin with https:// become links.`, rows: 6, value: values.howToVote ?? server.howToVote ?? '', error: errors.howToVote })}
        <div class="actions">
          <button type="submit">Save</button>
          <button type="submit" class="quiet" name="do" value="preview">Preview</button>
        </div>
      </form>
      ${shown ? html`<section><h3>${preview === undefined ? 'As players see it' : 'Preview: not saved yet'}</h3>${writtenText(shown)}</section>` : ''}`,
  });
}

function placeCard(
  path: string,
  server: WithId<Server>,
  move: WithId<ServerDraft> | null,
  typed?: Typed,
): Html {
  const shown = typed ?? valuesOf(move ?? server);
  const wish: Content = move
    ? html`${notice('attention', html`The server moves to <span class="mono">${addressOf(move)}</span> once you have shown that it is yours. Until then it stays at <span class="mono">${addressOf(server)}</span>.`)}
      ${button({ to: `${path}/discard`, text: 'Stay where it is' })}`
    : '';
  return card({
    id: 'place',
    title: 'Address',
    body: html`${wish} ${shown.errors.form ? notice('bad', shown.errors.form) : ''}
      <form method="post" action="${path}" class="stack">
        ${addressFields(shown)}
        <p class="hint">A new address is used after you have shown that it is yours, as when you added the server. Votes, tokens and the vote listener stay.</p>
        <button type="submit" class="quiet">${move ? 'Change' : 'Move to this address'}</button>
      </form>`,
  });
}

function removeCard(path: string, { name }: WithId<Server>): Html {
  return card({
    title: 'Remove the server',
    body: confirmed({
      text: 'Remove it from the list',
      consequence: html`<bdi>${name}</bdi> leaves the list for ever: its tokens are refused, votes that wait to be forwarded are given up, and its page is gone. Its id is never used again. Adding it anew begins from nothing.`,
      form: button({ to: path, text: 'Remove it for ever', kind: 'danger' }),
    }),
  });
}
