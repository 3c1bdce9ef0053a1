import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { z } from 'zod';
import { defineMessage, t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { editServer, resetsProbe } from '../../servers/listed-servers.ts';
import { discardMove, findMove, saveMove } from '../../servers/moves.ts';
import type { Server } from '../../servers/server.ts';
import type { ServerDraft } from '../../servers/server-draft.ts';
import { proveMoveNow } from '../../workflows/answer-now.ts';
import { removeServer } from '../../workflows/remove-server.ts';
import { isByOperator, serverOf } from '../guard-routes.ts';
import { OWNER, SOLE_OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import type { Site } from '../shared/decorate-site.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { type ContextOf, formRoute } from '../shared/form-route.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { button, card, confirmed, notice } from '../shared/parts.ts';
import { serverAddress } from '../shared/server-status.ts';
import { checkTaker } from '../shared/used-up.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { afterProving, ownershipProofCards } from './draft-pages.ts';
import { pauseCard, pauseRoutes } from './pause-card.ts';
import { secondAddressCards, secondAddressRoutes } from './second-address-card.ts';
import {
  addressFields,
  addressForm,
  detailsForm,
  gameFields,
  namingContact,
  serverNameField,
  valuesOf,
} from './server-fields.ts';
import { serverFrame } from './server-frame.ts';
import { type VoteShowing, voteSettingsCards, voteSettingsRoutes } from './vote-settings.ts';

const MESSAGES = {
  saved: defineMessage('Settings saved.'),
  'saved-text': defineMessage('Text saved.'),
  paused: defineMessage('The pause has begun.'),
  'pause-changed': defineMessage('Pause changed.'),
  resumed: defineMessage('The pause has ended. The server is checked now.'),
  'kept-address': defineMessage('Move cancelled. The server keeps its address.'),
  'second-removed': defineMessage('Second address removed.'),
  'second-discarded': defineMessage('New second address discarded.'),
};

type Showing = {
  details?: Typed;
  votes?: VoteShowing;
  pause?: Typed;
  address?: Typed;
  second?: Typed;
  removal?: Typed;
};
type SettingsPage = (request: FastifyRequest, showing?: Showing) => Promise<Page>;

/** `/dashboard/servers/<id>/settings`: a server's details, votes, address, pause and removal. */
export function serverSettingsPages(app: FastifyInstance, parts: DashboardParts): void {
  const page = settingsPage(app.site, parts.deps);
  app.get('/servers/:serverId/settings', OWNER, async (request, reply) =>
    sendPage(request, reply, await page(request)),
  );
  detailsRoutes(app, parts.deps, page);
  voteSettingsRoutes(app, parts.deps, (request, votes) => page(request, { votes }));
  addressRoutes(app, parts.deps, page);
  pauseRoutes(app, parts.deps, (request, pause) => page(request, { pause }));
  secondAddressRoutes(app, parts.deps, page);
}

function settingsPage(site: Site, deps: AppDeps): SettingsPage {
  return async (request, { details, votes = {}, address, second, pause, removal } = {}) => {
    const server = serverOf(request);
    const now = deps.clock.now();
    const [move, secondCards] = await Promise.all([
      findMove(deps, server._id),
      secondAddressCards(site, deps, server, second),
    ]);
    const path = serverPath(site.base, server, '/settings');
    const proof = { startCheck: `${path}/place/check`, editAddress: `${path}#place` };
    const body = html`${detailsCard(path, server, details)}
      ${voteSettingsCards(path, deps.config, server, votes)}
      ${addressCard(`${path}/place`, server, move, address)}
      ${move ? ownershipProofCards(move, proof, now) : ''}
      ${secondCards}
      ${pauseCard(site, deps, { path: `${path}/pause`, server, typed: pause })}
      ${removeCard(`${path}/remove`, server, removal)}`;
    return {
      title: `${t('Settings')} · ${server.name}`,
      messages: MESSAGES,
      ...serverFrame({ site, deps, server, now, part: '/settings', body }),
    };
  };
}

function detailsRoutes(app: FastifyInstance, deps: AppDeps, page: SettingsPage): void {
  const { base } = app.site;
  const takeCheck = checkTaker(deps);

  formRoute(app, {
    path: '/servers/:serverId/settings',
    access: OWNER,
    schema: detailsForm,
    show: (request, details) => page(request, { details }),
    run: async ({ request, server, by, path, data }) => {
      const tooMany = resetsProbe(server, data) ? await takeCheck(request) : null;
      if (tooMany) return tooMany;
      await editServer(deps, server._id, data, by);
      return `${path('/settings')}?done=saved`;
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/settings/remove',
    access: SOLE_OWNER,
    schema: z.object({ name: z.string() }),
    show: (request, removal) => page(request, { removal }),
    run: async ({ server, by, data }) => {
      if (data.name.trim() !== server.name)
        return { errors: { name: t('Type the name of the server to remove it.') } };
      await removeServer(deps, server._id, by);
      return `${base}/dashboard?done=removed`;
    },
  });
}

function addressRoutes(app: FastifyInstance, deps: AppDeps, page: SettingsPage): void {
  const { site } = app;
  const takeCheck = checkTaker(deps);
  const prove = ({ server, user, path }: ContextOf<'owner'>) =>
    afterProving(site, proveMoveNow(deps, user, server._id), path('/settings'), 'moved');

  formRoute(app, {
    path: '/servers/:serverId/settings/place',
    access: OWNER,
    schema: addressForm,
    show: (request, address) => page(request, { address }),
    refusalOf: (error) => namingContact(site, error),
    run: async ({ request, server, user, by, path, data }) => {
      if (!isByOperator(deps, request)) {
        await saveMove(deps, server, data, user._id);
        return prove({ server, user, by, path });
      }
      // If an operator changes the address: it changes at once, without an ownership proof, as on the command line.
      const tooMany = await takeCheck(request);
      if (tooMany) return tooMany;
      await editServer(deps, server._id, data, by);
      return `${path('/settings')}?done=saved`;
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/settings/place/check',
    access: OWNER,
    show: (request) => page(request),
    run: prove,
  });

  formRoute(app, {
    path: '/servers/:serverId/settings/place/discard',
    access: OWNER,
    run: async ({ server, path }) => {
      await discardMove(deps, server._id);
      return `${path('/settings')}?done=kept-address`;
    },
  });
}

function detailsCard(path: string, server: WithId<Server>, typed = valuesOf(server)): Html {
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

/** `move`: a new address whose ownership is not proven yet. */
function addressCard(
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

function removeCard(path: string, { name }: Server, typed = UNTOUCHED): Html {
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
          spellcheck: false,
        })}
        <button type="submit" class="danger">${t('Remove permanently')}</button>
      </form>`,
    }),
  });
}
