import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { editionOf, otherEdition } from '../../games/editions.ts';
import { t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { editServer } from '../../servers/listed-servers.ts';
import { discardMove, findMove, saveSecondMove } from '../../servers/moves.ts';
import type { Server } from '../../servers/server.ts';
import type { ServerDraft } from '../../servers/server-draft.ts';
import { proveMoveNow } from '../../workflows/answer-now.ts';
import { isByOperator } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import type { Site } from '../shared/decorate-site.ts';
import { type Typed, UNTOUCHED } from '../shared/form.ts';
import { type ContextOf, formRoute } from '../shared/form-route.ts';
import { type Content, html } from '../shared/html.ts';
import type { Page } from '../shared/layout.ts';
import { button, card, confirmed, notice } from '../shared/parts.ts';
import { EDITION_NAMES, serverAddress } from '../shared/server-status.ts';
import { checkTaker } from '../shared/used-up.ts';
import { afterProving, ownershipProofCards } from './draft-pages.ts';
import { namingContact, secondFields, secondForm, valuesOf } from './server-fields.ts';

/** `second`: the form as it was sent. */
type SettingsPage = (request: FastifyRequest, showing?: { second: Typed }) => Promise<Page>;

/** The second address of a server of Minecraft; nothing for other games. */
export async function secondAddressCards(
  site: Site,
  deps: AppDeps,
  server: WithId<Server>,
  typed?: Typed,
): Promise<Content> {
  const edition = editionOf(otherEdition(server.game)?.id);
  if (!edition) return '';
  const { second } = server;
  const move = await findMove(deps, server._id, 'second');
  const settings = serverPath(site.base, server, '/settings');
  const path = `${settings}/second`;
  const name = t(EDITION_NAMES[edition].name);
  const about = t(
    'Players of {edition} can join at a second address. Both are on the server’s page, the server is online if one of them is, and the vote form takes names of both editions.',
    { edition: name },
  );
  const proof = t(
    'You need to verify ownership of this address too: with a code in its own message, or with a DNS record of its host. Geyser passes on the first line of the Java server’s message.',
  );
  const shown = move
    ? { values: { secondAddress: move.address, secondPort: String(move.port) }, errors: {} }
    : second
      ? valuesOf(server)
      : UNTOUCHED;
  return html`${card({
    id: 'second',
    title: t('Address for {edition}', { edition: name }),
    body: html`<p>${about}</p>${move ? pending(path, move) : ''}
      <form method="post" action="${path}" class="stack">
        ${secondFields(typed ?? shown, edition)}
        <p class="hint">${proof}</p>
        <button type="submit" class="quiet">${second || move ? t('Change') : t('Add this address')}</button>
      </form>
      ${second ? removal(path, server) : ''}`,
  })}
  ${
    move
      ? ownershipProofCards(
          move,
          { startCheck: `${path}/check`, editAddress: `${settings}#second`, id: 'second-check' },
          deps.clock.now(),
        )
      : ''
  }`;
}

function pending(path: string, move: ServerDraft): Content {
  const sentence = t('{address} is added after you verify ownership.', {
    address: html`<span class="mono">${serverAddress(move)}</span>`,
  });
  return html`${notice('attention', sentence)}${button({ to: `${path}/discard`, text: t('Discard this address') })}`;
}

function removal(path: string, { second }: Server): Content {
  return confirmed({
    text: t('Remove the second address'),
    consequence: t('{address} is no longer shown and no longer checked. Votes and statistics are kept.', {
      address: second ? serverAddress(second) : '',
    }),
    form: button({ to: `${path}/remove`, text: t('Remove the second address'), kind: 'danger' }),
  });
}

export function secondAddressRoutes(app: FastifyInstance, deps: AppDeps, page: SettingsPage): void {
  const { site } = app;
  const takeCheck = checkTaker(deps);
  const prove = ({ server, user, path }: ContextOf<'owner'>) =>
    afterProving(
      site,
      proveMoveNow(deps, user, server._id, 'second'),
      path('/settings'),
      'second-added',
      'second-check',
    );

  formRoute(app, {
    path: '/servers/:serverId/settings/second',
    access: OWNER,
    schema: secondForm,
    show: (request, second) => page(request, { second }),
    refusalOf: (error) => namingContact(site, error),
    run: async ({ request, server, user, by, path, data }) => {
      if (!isByOperator(deps, request)) {
        await saveSecondMove(deps, server, data, user._id);
        return prove({ server, user, by, path });
      }
      // If an operator sets the address: it is set at once, without an ownership proof, as on the command line.
      const tooMany = await takeCheck(request);
      if (tooMany) return tooMany;
      await editServer(deps, server._id, data, by);
      return `${path('/settings')}?done=saved`;
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/settings/second/check',
    access: OWNER,
    show: (request) => page(request),
    run: prove,
  });

  formRoute(app, {
    path: '/servers/:serverId/settings/second/discard',
    access: OWNER,
    run: async ({ server, path }) => {
      await discardMove(deps, server._id, 'second');
      return `${path('/settings')}?done=second-discarded`;
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/settings/second/remove',
    access: OWNER,
    run: async ({ request, server, by, path }) => {
      const tooMany = await takeCheck(request);
      if (tooMany) return tooMany;
      await discardMove(deps, server._id, 'second');
      await editServer(deps, server._id, { secondAddress: null }, by);
      return `${path('/settings')}?done=second-removed`;
    },
  });
}
