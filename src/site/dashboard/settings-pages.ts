import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { z } from 'zod';
import { defineMessage, t } from '../../language/t.ts';
import { discardMove, findMove, saveMove } from '../../servers/drafts.ts';
import { LONGEST_HOW_TO_VOTE, readHowToVote, setHowToVote } from '../../servers/how-to-vote.ts';
import { editServer, resetsProbe } from '../../servers/listed-servers.ts';
import type { Server } from '../../servers/server.ts';
import type { ServerDraft } from '../../servers/server-draft.ts';
import { setWebVotes } from '../../servers/web-votes.ts';
import { proveMoveNow } from '../../workflows/answer-now.ts';
import { removeServer } from '../../workflows/remove-server.ts';
import { isByOperator, serverOf, userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { OWNER, SOLE_OWNER } from '../page-route.ts';
import { checkTaker } from '../shared/check-allowance.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import {
  errorsOf,
  INCOMPLETE,
  readForm,
  type Typed,
  typedValues,
  UNTOUCHED,
  withError,
} from '../shared/form.ts';
import { count } from '../shared/format.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { button, card, confirmed, notice, textArea, textField } from '../shared/parts.ts';
import { writtenText } from '../shared/plain-text.ts';
import { addressOf } from '../shared/server-status.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { DISCORD_MESSAGES, type DiscordShowing, discordCard, discordRoutes } from './discord-messages.ts';
import { afterProving } from './draft-pages.ts';
import { ownershipProofCards } from './ownership-proof.ts';
import {
  addressFields,
  addressForm,
  detailsForm,
  gameFields,
  nameField,
  namingContact,
  valuesOf,
} from './server-fields.ts';
import { serverFrame } from './server-frame.ts';

const MESSAGES = {
  saved: defineMessage('Settings saved.'),
  'saved-text': defineMessage('Text saved.'),
  'kept-place': defineMessage('Move cancelled. The server keeps its address.'),
  ...DISCORD_MESSAGES,
};

type Showing = {
  details?: Typed;
  address?: Typed;
  howToVote?: Typed;
  discord?: DiscordShowing;
  removal?: Typed;
  /** The text as players will see it; not saved yet. */
  preview?: string;
  status?: number;
};

/** `/dashboard/servers/<id>/settings`: details, text on voting, address and removal of a server. */
export function settingsPages(app: FastifyInstance, parts: DashboardParts): void {
  const { deps } = parts;
  const { base } = app.site;
  const useCheck = checkTaker(deps);
  const pathOf = (server: WithId<Server>, rest = '') => serverPath(base, server, `/settings${rest}`);

  const show = async (request: FastifyRequest, reply: FastifyReply, showing: Showing = {}) => {
    const server = serverOf(request);
    const now = deps.clock.now();
    const [move, webhook] = await Promise.all([
      findMove(deps, server._id),
      deps.discordWebhooks.findOne({ _id: server._id }),
    ]);
    const paths = { form: pathOf(server), address: pathOf(server, '/place') };
    const body = html`${detailsCard(paths.form, server, showing.details)}
      ${voteFormCard(pathOf(server, '/web-votes'), server)}
      ${howToVoteCard(pathOf(server, '/how-to-vote'), server, showing)}
      ${discordCard(pathOf(server, '/discord'), webhook, showing.discord ?? {}, now)}
      ${addressCard(paths.address, server, move, showing.address)}
      ${move ? ownershipProofCards({ draft: move, now, action: `${paths.address}/check`, correct: `${paths.form}#place` }) : ''}
      ${removeCard(pathOf(server, '/remove'), server, showing.removal)}`;
    return sendPage(
      request,
      reply,
      {
        title: `${t('Settings')} · ${server.name}`,
        messages: MESSAGES,
        body: serverFrame({ site: app.site, server, now, part: '/settings', body }),
      },
      showing.status,
    );
  };

  app.get('/servers/:serverId/settings', OWNER, (request, reply) => show(request, reply));
  discordRoutes(app, parts, show);

  app.post('/servers/:serverId/settings', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const { data, typed } = readForm(detailsForm, request);
    if (!data) throw new PageError(400, t(INCOMPLETE));
    const refused = resetsProbe(server, data) ? await useCheck(request, reply) : null;
    if (refused) return show(request, reply, { details: withError(typed, refused), status: 429 });
    try {
      await editServer(deps, server._id, data, userOf(request).email);
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
      await setHowToVote(deps, server._id, text, userOf(request).email);
    } catch (error) {
      return show(request, reply, { howToVote: errorsOf(error, values), status: 400 });
    }
    return reply.redirect(`${pathOf(server)}?done=saved-text#how-to-vote`, 303);
  });

  app.post('/servers/:serverId/settings/web-votes', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const { data } = readForm(webVotesForm, request);
    if (!data) throw new PageError(400, t(INCOMPLETE));
    await setWebVotes(deps, server._id, data.webVotes === 'on', userOf(request).email);
    return reply.redirect(`${pathOf(server)}?done=saved#vote-form`, 303);
  });

  app.post('/servers/:serverId/settings/place', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const user = userOf(request);
    const { data, typed } = readForm(addressForm, request);
    if (!data) throw new PageError(400, t(INCOMPLETE));
    const refused = isByOperator(deps, request) ? await useCheck(request, reply) : null;
    if (refused) return show(request, reply, { address: withError(typed, refused), status: 429 });
    try {
      if (isByOperator(deps, request)) {
        // Operators need no verification, as on the command line.
        await editServer(deps, server._id, data, user.email);
        return reply.redirect(`${pathOf(server)}?done=saved`, 303);
      }
      await saveMove(deps, server, data, user._id);
    } catch (error) {
      return show(request, reply, {
        address: namingContact(app.site, errorsOf(error, typed.values)),
        status: 400,
      });
    }
    return proveAddress(request, reply);
  });

  const proveAddress = (request: FastifyRequest, reply: FastifyReply) => {
    const server = serverOf(request);
    const proved = proveMoveNow(deps, userOf(request), server._id);
    return afterProving(reply, base, proved, pathOf(server), 'moved');
  };
  app.post('/servers/:serverId/settings/place/check', OWNER, proveAddress);

  app.post('/servers/:serverId/settings/place/discard', OWNER, async (request, reply) => {
    const server = serverOf(request);
    await discardMove(deps, server._id);
    return reply.redirect(`${pathOf(server)}?done=kept-place`, 303);
  });

  app.post('/servers/:serverId/settings/remove', SOLE_OWNER, async (request, reply) => {
    const server = serverOf(request);
    const typed = typedValues(request);
    if (typed.name?.trim() !== server.name) {
      const errors = { removal: t('Type the name of the server to remove it.') };
      return show(request, reply, { removal: { values: typed, errors }, status: 400 });
    }
    await removeServer(deps, server._id, userOf(request).email);
    return reply.redirect(`${base}/dashboard?done=removed`, 303);
  });
}

function detailsCard(path: string, server: WithId<Server>, typed = valuesOf(server)): Html {
  return card({
    title: t('Details'),
    body: html`${typed.errors.form ? notice('bad', typed.errors.form) : ''}
      <form method="post" action="${path}" class="stack">
        ${nameField(typed)} ${gameFields(typed)}
        <p class="hint">${t('The server’s id stays the same. A new name changes the page’s address; the old address redirects.')}</p>
        <button type="submit">${t('Save')}</button>
      </form>`,
  });
}

const webVotesForm = z.object({ webVotes: z.enum(['on', 'off']) });

function voteFormCard(path: string, { webVotes }: WithId<Server>): Html {
  const isOn = webVotes !== false;
  return card({
    id: 'vote-form',
    title: t('Vote form'),
    body: html`<p>${
      isOn
        ? t(
            'Players can vote on the page of your server. A vote needs no account; bulk voting is limited by network, and unusual votes wait for the operator of this listing.',
          )
        : t('The page of your server has no vote form. Players vote only with your plugin or website.')
    }</p>
      ${button({ to: path, text: isOn ? t('Switch the vote form off') : t('Switch the vote form on'), hidden: { webVotes: isOn ? 'off' : 'on' } })}`,
  });
}

function howToVoteCard(path: string, server: WithId<Server>, { howToVote, preview }: Showing): Html {
  const { values, errors } = howToVote ?? UNTOUCHED;
  const shown = preview ?? server.howToVote ?? '';
  return card({
    id: 'how-to-vote',
    title: t('How to vote'),
    body: html`<form method="post" action="${path}#how-to-vote" class="stack">
        ${textArea({ name: 'howToVote', label: t('Rewards and how to vote'), hint: t('Up to {characters} characters of plain text. URLs that begin with https:// become links.', { characters: count(LONGEST_HOW_TO_VOTE) }), rows: 6, value: values.howToVote ?? server.howToVote ?? '', error: errors.howToVote })}
        <div class="actions">
          <button type="submit">${t('Save')}</button>
          <button type="submit" class="quiet" name="do" value="preview">${t('Preview')}</button>
        </div>
      </form>
      ${shown ? html`<section><h3>${preview === undefined ? t('As players see it') : t('Preview (not saved)')}</h3>${writtenText(shown)}</section>` : ''}`,
  });
}

function addressCard(
  path: string,
  server: WithId<Server>,
  move: WithId<ServerDraft> | null,
  typed?: Typed,
): Html {
  const shown = typed ?? valuesOf(move ?? server);
  const pendingMove: Content = move
    ? html`${notice('attention', t('The server will move to {address} after you verify ownership. Until then it stays at {present}.', { address: html`<span class="mono">${addressOf(move)}</span>`, present: html`<span class="mono">${addressOf(server)}</span>` }))}
      ${button({ to: `${path}/discard`, text: t('Cancel move') })}`
    : '';
  return card({
    id: 'place',
    title: t('Address'),
    body: html`${pendingMove} ${shown.errors.form ? notice('bad', shown.errors.form) : ''}
      <form method="post" action="${path}" class="stack">
        ${addressFields(shown)}
        <p class="hint">${t('You need to verify ownership of the new address. Votes, tokens and the vote listener are kept.')}</p>
        <button type="submit" class="quiet">${move ? 'Change' : t('Move to this address')}</button>
      </form>`,
  });
}

function removeCard(path: string, { name }: WithId<Server>, typed = UNTOUCHED): Html {
  return card({
    title: t('Remove server'),
    body: confirmed({
      text: t('Remove server'),
      consequence: html`${t('<bdi>{name}</bdi> is removed permanently: its tokens stop working, waiting votes are not delivered, and its page is deleted. Its id is never used again. If you add the server again, it starts from zero.', { name })}`,
      isOpen: Boolean(typed.errors.removal),
      form: html`<form method="post" action="${path}" class="stack">
        ${textField({ name: 'name', id: 'removal', label: t('Name of the server'), required: true, autocomplete: 'off', spellcheck: false, value: typed.values.name ?? '', error: typed.errors.removal })}
        <button type="submit" class="danger">${t('Remove permanently')}</button>
      </form>`,
    }),
  });
}
