import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import { ObjectId, type WithId } from 'mongodb';
import { z } from 'zod';
import { defineMessage, type Text, t } from '../../language/t.ts';
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
import type { Server } from '../../servers/server.ts';
import { isId } from '../../servers/slug.ts';
import { makerNames } from '../../servers/token-makers.ts';
import { type VrcFile, vrcFile } from '../../votes/claims/vrc-file.ts';
import { serverOf, userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { OWNER } from '../page-route.ts';
import { serverPath } from '../shared/dashboard-paths.ts';
import { errorsOf, readForm, type Typed, UNTOUCHED } from '../shared/form.ts';
import type { Html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { card, checkbox, copyable, notice, optionsOf, select, textField } from '../shared/parts.ts';
import { publicPath } from '../shared/server-paths.ts';
import { curlLines } from './curl-lines.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { idOf } from './draft-pages.ts';
import { serverFrame } from './server-frame.ts';
import { LIFETIMES, lifetimeField, lifetimeSchema } from './token-lifetimes.ts';
import { OVERLAPS, oldTokensNotice, tokenTable } from './token-table.ts';

const KIND_TEXTS: [TokenKind, Text][] = [
  ['api', defineMessage('The API')],
  ['claim', defineMessage('A plugin that claims votes')],
];

const SCOPE_TEXTS: Record<TokenScope, Text> = {
  vote: defineMessage('Cast and claim votes'),
  status: defineMessage('Report the status'),
  read: defineMessage('Read votes, figures and reviews'),
};

/** Created with the form, so that a form sent twice creates one token. */
const newId = z
  .string()
  .refine(isId, defineMessage('The form was incomplete. Reload the page.'))
  .transform((id) => new ObjectId(id));

const issueForm = z.object({
  name: z.string(),
  kind: z.enum(TOKEN_KINDS, defineMessage('Choose one of these.')).default('api'),
  lifetime: lifetimeSchema,
  vote: z.literal('yes').optional(),
  status: z.literal('yes').optional(),
  read: z.literal('yes').optional(),
  newId,
});
const rotateForm = z.object({
  overlap: z.enum(Object.keys(OVERLAPS) as [keyof typeof OVERLAPS], defineMessage('Choose one of these.')),
  newId,
});

const MESSAGES = { revoked: defineMessage('Token revoked. It stops working within 5 seconds.') };

/** `/dashboard/servers/<id>/tokens`: a server's API tokens, and example calls. */
export function tokenPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;

  const vrcFor = (server: Server) => (key: string) => {
    const { url, name } = app.site;
    return vrcFile({ name, url }, `${url}${publicPath(server)}`, key);
  };

  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { typed = UNTOUCHED, issued, kind = 'api', message, status = 200 }: Showing = {},
  ) => {
    const server = serverOf(request);
    const now = deps.clock.now();
    const tokens = await listTokens(deps, server._id);
    const makerNameOf = await makerNames(deps, server, tokens);
    const address = `${deps.config.PUBLIC_URL}/api/v1/servers/${server._id.toHexString()}`;
    const body = html`${message ?? ''} ${issued ? shownOnce(issued, kind, vrcFor(server)) : ''}
      ${card({ title: t('Tokens'), body: html`${oldTokensNotice(tokens, now)}${tokenTable({ base, server, tokens, makerOf: makerNameOf, now })}` })}
      ${card({ title: t('Create a token'), body: createForm(base, server, typed) })}
      ${card({ title: t('Example calls'), body: curlCard(address, kind === 'api' ? issued?.token : undefined) })}`;
    return sendPage(
      request,
      reply,
      {
        title: t('API access · {server}', { server: server.name }),
        messages: MESSAGES,
        body: serverFrame({ site: app.site, server, now, part: '/tokens', body }),
      },
      status,
    );
  };

  app.get('/servers/:serverId/tokens', OWNER, (request, reply) => show(request, reply));

  app.post('/servers/:serverId/tokens', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const { _id: serverId } = server;
    const { data, typed } = readForm(issueForm, request);
    if (!data) return show(request, reply, { typed, message: formError(typed), status: 400 });
    const expiresInMs = LIFETIMES[data.lifetime];
    const scopes = TOKEN_SCOPES.filter((scope) => data[scope]);
    if (data.kind === 'api' && scopes.length === 0) {
      const message = notice('bad', t('Choose at least one thing that the token may do.'));
      return show(request, reply, { typed, message, status: 400 });
    }
    const wanted = {
      serverId,
      name: data.name,
      kind: data.kind,
      ...(data.kind === 'api' && scopes.length < TOKEN_SCOPES.length ? { scopes } : {}),
      tokenId: data.newId,
      maker: makerOf(server, userOf(request)._id),
      ...(expiresInMs ? { expiresInMs } : {}),
    };
    try {
      const issued = await issueToken(deps, wanted, userOf(request).email);
      return await show(request, reply, { issued, kind: data.kind });
    } catch (error) {
      if (error instanceof TokenMadeError)
        return show(request, reply, { message: alreadyCreated(), status: 409 });
      return show(request, reply, { typed: errorsOf(error, typed.values), status: 400 });
    }
  });

  app.post('/servers/:serverId/tokens/:tokenId/rotate', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const { _id: serverId } = server;
    const { data, typed } = readForm(rotateForm, request);
    if (!data)
      return show(request, reply, { message: formError(typed) ?? formError(typed, 'overlap'), status: 400 });
    const { _id: userId, email: by } = userOf(request);
    const maker = makerOf(server, userId);
    const options = { overlapMs: OVERLAPS[data.overlap], newId: data.newId, maker };
    try {
      const issued = await rotateToken(deps, serverId, tokenIdOf(request), options, by);
      if (!issued)
        return show(request, reply, {
          message: notice('bad', t('This token is no longer valid, so it cannot be replaced.')),
          status: 409,
        });
      const replaced = await deps.apiTokens.findOne({ _id: data.newId });
      return await show(request, reply, { issued, kind: replaced ? kindOf(replaced) : 'api' });
    } catch (error) {
      if (!(error instanceof TokenMadeError)) throw error;
      return show(request, reply, { message: alreadyCreated(), status: 409 });
    }
  });

  app.post('/servers/:serverId/tokens/:tokenId/revoke', OWNER, async (request, reply) => {
    const server = serverOf(request);
    const by = userOf(request).email;
    if (!(await revokeToken(deps, server._id, tokenIdOf(request), by))) throw noToken();
    return reply.redirect(`${serverPath(base, server, '/tokens')}?done=revoked`, 303);
  });
}

type Showing = {
  typed?: Typed;
  issued?: IssuedToken;
  kind?: TokenKind;
  message?: Html | undefined;
  status?: number;
};

function noToken(): PageError {
  return new PageError(404, t('This server has no token with this id.'));
}

function tokenIdOf(request: FastifyRequest): ObjectId {
  const tokenId = idOf((request.params as { tokenId?: string }).tokenId);
  if (!tokenId) throw noToken();
  return tokenId;
}

/** The error of a field that is not visible in the form. */
function formError({ errors }: Typed, field = 'newId'): Html | undefined {
  const sentence = errors[field];
  return sentence ? notice('bad', sentence) : undefined;
}

function alreadyCreated(): Html {
  return notice(
    'attention',
    t(
      'This form was already sent, and its token was created and shown then. If you did not save the token, revoke it and create another one.',
    ),
  );
}

function shownOnce({ token }: IssuedToken, kind: TokenKind, vrc: (key: string) => VrcFile): Html {
  if (kind === 'claim') {
    return html`<section class="card new-token">
      <h2>${t('Your new claim key')}</h2>
      <p>${t('Copy it now: it is shown only once. It may only check and claim votes of this server, since plugins send it in addresses.')}</p>
      ${copyable(token, t('the claim key'))}
      <h3>${t('File for VoteReward (PocketMine)')}</h3>
      <p>${t('Save it as a file that ends with <code>.vrc</code> in the folder <code>Lists</code> of VoteReward’s data folder.')}</p>
      ${copyable(JSON.stringify(vrc(token), null, 2), 'the file')}
    </section>`;
  }
  return html`<section class="card new-token">
    <h2>${t('Your new token')}</h2>
    <p>${t('Copy it now: it is shown only once. Anyone who has it can do for this server what you chose.')}</p>
    ${copyable(token, 'the token')}
  </section>`;
}

/** All scopes are chosen in a new form. */
function scopeFields({ values }: Typed): Html {
  const isNew = Object.keys(values).length === 0;
  return html`<fieldset>
    <legend>${t('An API token may')}</legend>
    ${TOKEN_SCOPES.map((scope) => checkbox({ name: scope, label: t(SCOPE_TEXTS[scope]), checked: isNew || values[scope] === 'yes' }))}
  </fieldset>`;
}

function createForm(base: string, server: WithId<Server>, typed: Typed): Html {
  const { values, errors } = typed;
  return html`<form method="post" action="${serverPath(base, server, '/tokens')}" class="stack">
    <input type="hidden" name="newId" value="${new ObjectId().toHexString()}" />
    <div class="row">
      ${textField({ name: 'name', label: t('Name'), hint: t('What the token is for, such as «website».'), required: true, maxlength: 120, value: values.name ?? '', error: errors.name })}
      ${select({ name: 'kind', label: t('For'), hint: t('A claim key may only check and claim votes.'), value: values.kind, options: optionsOf(KIND_TEXTS), error: errors.kind })}
      ${lifetimeField(values.lifetime, errors.lifetime)}
    </div>
    ${scopeFields(typed)}
    <button type="submit">${t('Create token')}</button>
  </form>`;
}

function curlCard(address: string, token: string | undefined): Html {
  const intro = token
    ? t('With your new token:')
    : html`${t('Set your token once with <code>TOKEN=tp_…</code>, then:')}`;
  return html`<p>${intro}</p>
    ${curlLines(address, token ?? '$TOKEN').map(
      ({ title, line }) =>
        html`<div><h3>${t(title)}</h3>${copyable(line, t('the call: {title}', { title: t(title) }))}</div>`,
    )}`;
}
