import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { defineMessage, t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { discardMove, findMove, saveMove } from '../../servers/drafts.ts';
import { readHowToVote, setHowToVote } from '../../servers/how-to-vote.ts';
import { editServer, resetsProbe } from '../../servers/listed-servers.ts';
import { switchVoteForm } from '../../servers/vote-form-switch.ts';
import { proveMoveNow } from '../../workflows/answer-now.ts';
import { removeServer } from '../../workflows/remove-server.ts';
import { isByOperator, serverOf } from '../guard-routes.ts';
import { OWNER, SOLE_OWNER } from '../route-options.ts';
import { checkTaker } from '../shared/check-taker.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import type { Site } from '../shared/decorate-site.ts';
import type { Typed } from '../shared/form.ts';
import { type ContextOf, formRoute } from '../shared/form-route.ts';
import { html } from '../shared/html.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { DISCORD_MESSAGES, type DiscordShowing, discordCard, discordRoutes } from './discord-messages.ts';
import { afterProving } from './draft-pages.ts';
import { identityCard, identityRoutes } from './identity-forms.ts';
import { ownershipProofCards } from './ownership-proof.ts';
import { addressForm, detailsForm, namingContact } from './server-fields.ts';
import { serverFrame } from './server-frame.ts';
import { addressCard, detailsCard, howToVoteCard, removeCard, voteFormCard } from './settings-cards.ts';

const MESSAGES = {
  saved: defineMessage('Settings saved.'),
  'saved-text': defineMessage('Text saved.'),
  'kept-address': defineMessage('Move cancelled. The server keeps its address.'),
  ...DISCORD_MESSAGES,
};

const webVotesForm = z.object({ webVotes: z.enum(['on', 'off']) });
const howToVoteForm = z.object({ howToVote: z.string(), do: z.string().optional() });
const removalForm = z.object({ name: z.string() });

type Showing = {
  details?: Typed;
  address?: Typed;
  howToVote?: { typed?: Typed; preview?: string };
  discord?: DiscordShowing;
  identity?: Typed;
  removal?: Typed;
};
type SettingsPage = (request: FastifyRequest, showing?: Showing) => Promise<Page>;

/** `/dashboard/servers/<id>/settings`: a server's details, votes, address, Discord messages and removal. */
export function serverSettingsPages(app: FastifyInstance, parts: DashboardParts): void {
  const page = settingsPage(app.site, parts.deps);
  app.get('/servers/:serverId/settings', OWNER, async (request, reply) =>
    sendPage(request, reply, await page(request)),
  );
  detailsRoutes(app, parts.deps, page);
  votingRoutes(app, parts.deps, page);
  identityRoutes(app, parts.deps, (request, identity) => page(request, { identity }));
  discordRoutes(app, parts, (request, discord) => page(request, { discord }));
  addressRoutes(app, parts.deps, page);
}

function settingsPage(site: Site, deps: AppDeps): SettingsPage {
  return async (request, { details, address, howToVote = {}, discord = {}, identity, removal } = {}) => {
    const server = serverOf(request);
    const now = deps.clock.now();
    const [move, webhook] = await Promise.all([
      findMove(deps, server._id),
      deps.discordWebhooks.findOne({ _id: server._id }),
    ]);
    const path = serverPath(site.base, server, '/settings');
    const proof = { now, action: `${path}/place/check`, correct: `${path}#place` };
    const body = html`${detailsCard(path, server, details)}
      ${voteFormCard(`${path}/web-votes`, server)}
      ${identityCard(path, deps.config, server, identity)}
      ${howToVoteCard(`${path}/how-to-vote`, server, howToVote)}
      ${discordCard(`${path}/discord`, webhook, discord, now)}
      ${addressCard(`${path}/place`, server, move, address)}
      ${move ? ownershipProofCards({ draft: move, ...proof }) : ''}
      ${removeCard(`${path}/remove`, server, removal)}`;
    return {
      title: `${t('Settings')} · ${server.name}`,
      messages: MESSAGES,
      ...serverFrame({ site, server, now, part: '/settings', body }),
    };
  };
}

/** The forms that change the details of a server and that remove it. */
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
    schema: removalForm,
    show: (request, removal) => page(request, { removal }),
    run: async ({ server, by, data }) => {
      if (data.name.trim() !== server.name)
        return { errors: { name: t('Type the name of the server to remove it.') } };
      await removeServer(deps, server._id, by);
      return `${base}/dashboard?done=removed`;
    },
  });
}

/** The form that turns the public vote form on or off, and the form for the text about rewards and how to vote. */
function votingRoutes(app: FastifyInstance, deps: AppDeps, page: SettingsPage): void {
  formRoute(app, {
    path: '/servers/:serverId/settings/web-votes',
    access: OWNER,
    schema: webVotesForm,
    run: async ({ server, by, path, data }) => {
      await switchVoteForm(deps, server._id, data.webVotes === 'on', by);
      return `${path('/settings')}?done=saved#vote-form`;
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/settings/how-to-vote',
    access: OWNER,
    schema: howToVoteForm,
    show: (request, typed) => page(request, { howToVote: { typed } }),
    run: async ({ request, server, by, path, data, values }) => {
      if (data.do === 'preview') {
        const preview = readHowToVote(data.howToVote);
        return { page: page(request, { howToVote: { typed: { values, errors: {} }, preview } }) };
      }
      await setHowToVote(deps, server._id, data.howToVote, by);
      return `${path('/settings')}?done=saved-text#how-to-vote`;
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
