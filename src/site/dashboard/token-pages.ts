import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { defineMessage, filled, type Text, t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { makerNames } from '../../servers/actor-names.ts';
import {
  kindOf,
  TOKEN_KINDS,
  TOKEN_SCOPES,
  type TokenKind,
  type TokenScope,
} from '../../servers/api-token.ts';
import {
  type IssuedToken,
  issueToken,
  listTokens,
  makerOf,
  revokeToken,
  rotateToken,
  TokenMadeError,
} from '../../servers/api-tokens.ts';
import { REVOKED_WITHIN_SECONDS } from '../../servers/authenticate-token.ts';
import { vrcFile } from '../../votes/claims/vrc-file.ts';
import { serverOf } from '../guard-routes.ts';
import { OWNER } from '../route-options.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import type { Site } from '../shared/decorate-site.ts';
import { INCOMPLETE, type Typed, UNTOUCHED } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { type FormAnswer, formRoute, refused } from '../shared/form-route.ts';
import { type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { card, checkbox, notice, optionsOf } from '../shared/parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { hiddenId, newIdField } from './hidden-ids.ts';
import { serverFrame } from './server-frame.ts';
import { callsCard, OVERLAPS, oldTokensNotice, shownOnce, tokenTable } from './token-cards.ts';
import { LIFETIMES, lifetimeField, lifetimeSchema } from './token-lifetimes.ts';

const KIND_TEXTS: [TokenKind, Text][] = [
  ['api', defineMessage('The API')],
  ['claim', defineMessage('A plugin that claims votes')],
  ['deliver', defineMessage('A relay or plugin that fetches votes')],
];

const SCOPE_TEXTS: Record<TokenScope, Text> = {
  vote: defineMessage('Cast and claim votes'),
  status: defineMessage('Report the status'),
  read: defineMessage('Read votes, figures and reviews'),
};

/** Of a check box, browsers send `yes` or nothing. */
const box = z.literal('yes', { error: () => t(INCOMPLETE) }).optional();

const issueForm = z.object({
  name: z.string(),
  kind: z.enum(TOKEN_KINDS, { error: () => t('Choose one of these.') }).default('api'),
  lifetime: lifetimeSchema,
  vote: box,
  status: box,
  read: box,
  newId: hiddenId,
});
const rotateForm = z.object({
  overlap: z.enum(Object.keys(OVERLAPS) as [keyof typeof OVERLAPS], {
    error: () => t('Choose one of these.'),
  }),
  newId: hiddenId,
});

const MESSAGES = {
  revoked: filled(defineMessage('Token revoked. It stops working within {seconds} seconds.'), {
    seconds: REVOKED_WITHIN_SECONDS,
  }),
};

/** `/dashboard/servers/<id>/tokens`: a server's API tokens, and example calls. */
export function tokenPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const page = tokenPage(app.site, deps);
  app.get('/servers/:serverId/tokens', OWNER, async (request, reply) =>
    sendPage(request, reply, await page(request)),
  );

  issuingRoutes(app, deps, page);

  formRoute(app, {
    path: '/servers/:serverId/tokens/:tokenId/revoke',
    access: OWNER,
    run: async ({ request, server, by, path }) => {
      const tokenId = idParam(request, 'tokenId');
      const isRevoked = await revokeToken(deps, server._id, tokenId, by);
      return isRevoked
        ? `${path('/tokens')}?done=revoked`
        : refused(404, t('This server has no token with this id.'));
    },
  });
}

type Showing = { typed?: Typed; issued?: IssuedToken; kind?: TokenKind; message?: Html };
type TokenPage = (request: FastifyRequest, showing?: Showing) => Promise<Page>;

function tokenPage(site: Site, deps: AppDeps): TokenPage {
  return async (request, { typed = UNTOUCHED, issued, kind = 'api', message } = {}) => {
    const server = serverOf(request);
    const now = deps.clock.now();
    const path = serverPath(site.base, server, '/tokens');
    const vrcOf = (key: string) => vrcFile(site, `${site.url}${publicPath(server)}`, key);
    const tokens = await listTokens(deps, server._id);
    const makerNameOf = await makerNames(deps, server, tokens);
    const address = `${deps.config.PUBLIC_URL}/api/v1/servers/${server._id.toHexString()}`;
    const body = html`${message ?? ''} ${issued ? shownOnce(issued.token, kind, vrcOf) : ''}
      ${card({
        title: t('Tokens'),
        body: [oldTokensNotice(tokens, now), tokenTable(path, tokens, makerNameOf, now)],
      })}
      ${card({ title: t('Create a token'), body: createForm(path, typed) })}
      ${callsCard(address, kind === 'api' ? issued?.token : undefined)}`;
    return {
      title: t('API access · {server}', { server: server.name }),
      messages: MESSAGES,
      ...serverFrame({ site, deps, server, now, part: '/tokens', body }),
    };
  };
}

function issuingRoutes(app: FastifyInstance, deps: AppDeps, page: TokenPage): void {
  /** Shows the new token. If the form was sent twice: the second answer has a message instead. */
  const issuing = async (
    request: FastifyRequest,
    issue: () => Promise<IssuedToken | null>,
    kindOfIssued: () => Promise<TokenKind>,
  ): Promise<FormAnswer> => {
    try {
      const issued = await issue();
      if (!issued) return refused(409, t('This token is no longer valid, so it cannot be replaced.'));
      return { page: page(request, { issued, kind: await kindOfIssued() }) };
    } catch (error) {
      if (!(error instanceof TokenMadeError)) throw error;
      const message = notice(
        'attention',
        t(
          'This form was already sent, and its token was created and shown then. If you did not save the token, revoke it and create another one.',
        ),
      );
      return { page: page(request, { message }), status: 409 };
    }
  };

  formRoute(app, {
    path: '/servers/:serverId/tokens',
    access: OWNER,
    schema: issueForm,
    show: (request, typed) => page(request, { typed }),
    run: ({ request, server, user, by, data }) => {
      const { name, kind, newId: tokenId, lifetime } = data;
      const expiresInMs = LIFETIMES[lifetime];
      const scopes = TOKEN_SCOPES.filter((scope) => data[scope]);
      if (kind === 'api' && scopes.length === 0)
        return refused(400, t('Choose at least one thing that the token may do.'));
      const wanted = {
        serverId: server._id,
        name,
        kind,
        tokenId,
        maker: makerOf(server, user._id),
        ...(kind === 'api' && scopes.length < TOKEN_SCOPES.length && { scopes }),
        ...(expiresInMs && { expiresInMs }),
      };
      return issuing(
        request,
        () => issueToken(deps, wanted, by),
        async () => kind,
      );
    },
  });

  formRoute(app, {
    path: '/servers/:serverId/tokens/:tokenId/rotate',
    access: OWNER,
    schema: rotateForm,
    show: (request) => page(request),
    run: ({ request, server, user, by, data }) => {
      const maker = makerOf(server, user._id);
      const options = { overlapMs: OVERLAPS[data.overlap], newId: data.newId, maker };
      const tokenId = idParam(request, 'tokenId');
      return issuing(
        request,
        () => rotateToken(deps, server._id, tokenId, options, by),
        async () => {
          const replaced = await deps.apiTokens.findOne({ _id: data.newId });
          return replaced ? kindOf(replaced) : 'api';
        },
      );
    },
  });
}

/** The check boxes of the scopes. In a new form all of them are checked. */
function scopeFields({ values }: Typed): Html {
  const isNew = Object.keys(values).length === 0;
  const boxOf = (scope: TokenScope) =>
    checkbox({ name: scope, label: t(SCOPE_TEXTS[scope]), checked: isNew || values[scope] === 'yes' });
  return html`<fieldset>
    <legend>${t('An API token may')}</legend>
    ${TOKEN_SCOPES.map(boxOf)}
  </fieldset>`;
}

function createForm(path: string, typed: Typed): Html {
  const fields = fieldsOf(typed);
  return html`<form method="post" action="${path}" class="stack">
    ${newIdField()}
    <div class="row">
      ${fields.text('name', {
        label: t('Name'),
        hint: t('What the token is for, such as “website”.'),
        required: true,
        maxlength: 120,
      })}
      ${fields.select('kind', {
        label: t('For'),
        hint: t(
          'A claim key may only check and claim votes; a delivery token may only fetch votes and report their results.',
        ),
        options: optionsOf(KIND_TEXTS),
      })}
      ${lifetimeField(typed)}
    </div>
    ${scopeFields(typed)}
    <button type="submit">${t('Create token')}</button>
  </form>`;
}
