import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { z } from 'zod';
import { capitalized } from '../../language/language.ts';
import { t } from '../../language/t.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { allowVotes, MOST_ALLOWED } from '../../ranking/evidence/allow-votes.ts';
import { editServer } from '../../servers/listed-servers.ts';
import { pauseAt } from '../../servers/listing-pause.ts';
import { hideServer, removeProfilePart, unhideServer } from '../../servers/moderate-server.ts';
import type { ProfilePart } from '../../servers/profile.ts';
import type { Server } from '../../servers/server.ts';
import { resumeListing } from '../../workflows/pause-listing.ts';
import { removeServer } from '../../workflows/remove-server.ts';
import { nextOwner, TransferError, transferServer } from '../../workflows/transfer-server.ts';
import { PageError } from '../error-pages.ts';
import { OPERATOR } from '../route-options.ts';
import { fieldText, type Typed } from '../shared/form.ts';
import { fieldsOf } from '../shared/form-fields.ts';
import { type Form, formRoute, type RefusedForm, refused } from '../shared/form-route.ts';
import { type Content, type Html, html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import type { Page } from '../shared/layout.ts';
import { button, confirmed, select } from '../shared/parts.ts';
import { PART_TEXTS } from '../shared/profile-parts.ts';
import { internalReason, reasonFields } from './admin-fields.ts';
import { adminServerPath } from './admin-frame.ts';

export async function readServerOfPath(
  { servers }: AppDeps,
  request: FastifyRequest,
): Promise<WithId<Server>> {
  const server = await servers.findOne({ _id: idParam(request, 'serverId') });
  if (!server) throw new PageError(404, 'This server does not exist.');
  return server;
}

/** `show` makes the page of the server. */
export function serverActions(
  app: FastifyInstance,
  deps: AppDeps,
  show: (request: FastifyRequest, typed: Typed) => Promise<Page>,
): void {
  const { base } = app.site;
  /** `done` is the code of the message after the action. */
  const action = <S extends z.ZodObject>(
    name: string,
    { done, act, ...form }: Pick<Form<S>, 'fields' | 'refusalOf'> & Action<S>,
  ) =>
    formRoute<S, 'operator'>(app, {
      ...form,
      path: `/servers/:serverId/${name}`,
      access: OPERATOR,
      show,
      run: async ({ request, by, data }) => {
        const server = await readServerOfPath(deps, request);
        const changed = await act(server, data, by);
        if (!changed) return refused(409, 'This server was removed.');
        if (typeof changed === 'object' && 'errors' in changed) return changed;
        return `${adminServerPath(base, server)}?done=${typeof done === 'string' ? done : done(data)}`;
      },
    });

  action('hide', {
    done: 'hidden',
    schema: z.object({ reason: fieldText, internalReason: z.string().optional() }),
    act: ({ _id }, reasons, by) => hideServer(deps, _id, reasons, by),
  });
  action('unhide', { done: 'shown', act: ({ _id }, _data, by) => unhideServer(deps, _id, by) });
  action('resume', {
    done: 'resumed',
    act: async ({ _id }, _data, by) =>
      (await resumeListing(deps, _id, by)) !== null || refused(409, 'The listing is not paused.'),
  });
  action('profile/remove', {
    done: 'profile-part',
    schema: z.object({
      part: fieldText,
      profileReason: fieldText,
      profileInternalReason: z.string().optional(),
    }),
    fields: { reason: 'profileReason', internalReason: 'profileInternalReason' },
    act: async ({ _id }, { part, profileReason: reason, profileInternalReason: internalReason }, by) =>
      (await removeProfilePart(deps, _id, { part, reason, internalReason }, by)) ||
      refused(409, 'The profile no longer has this part.'),
  });
  action('allow-votes', {
    done: 'votes-allowed',
    schema: z.object({ votes: fieldText, allowReason: fieldText }),
    fields: { reason: 'allowReason' },
    act: ({ _id }, { votes, allowReason: reason }, by) => allowVotes(deps, _id, { votes, reason }, by),
  });
  action('premium', {
    done: ({ premium }) => `premium-${premium}`,
    schema: z.object({ premium: z.enum(['on', 'off']) }),
    act: ({ _id }, { premium }, by) => editServer(deps, _id, { isPremium: premium === 'on' }, by),
  });
  action('transfer', {
    done: 'transferred',
    schema: z.object({ email: fieldText }),
    refusalOf: (error) => (error instanceof TransferError ? { errors: { email: error.message } } : undefined),
    act: async ({ _id }, { email }, by) => transferServer(deps, _id, await nextOwner(deps, email), by),
  });
  action('remove', {
    done: 'removed',
    schema: z.object({ slug: fieldText }),
    act: async ({ _id, slug }, data, by) =>
      data.slug.trim() === slug
        ? removeServer(deps, _id, by)
        : { errors: { slug: `Type ${slug} to remove the server.` } },
  });
}

/** null or false if the server was removed in the meantime. */
type Changed = WithId<Server> | { server: WithId<Server> } | boolean | null;

type Action<S extends z.ZodObject> = {
  done: string | ((data: z.output<S>) => string);
  schema?: S;
  act: (server: WithId<Server>, data: z.output<S>, by: string) => Promise<Changed | RefusedForm>;
};

export type ServerView = { base: string; server: WithId<Server>; now: Date; typed: Typed };

export function actionsOf(view: ServerView): Html {
  return html`<div class="actions top">
    ${resuming(view)}${premium(view)} ${hiding(view)} ${transfer(view)} ${removal(view)}
  </div>`;
}

function premium({ base, server }: ServerView): Html {
  return button({
    to: adminServerPath(base, server, '/premium'),
    hidden: { premium: server.isPremium ? 'off' : 'on' },
    text: server.isPremium ? 'End premium' : 'Make premium',
  });
}

function formPart(part: {
  text: string;
  error: string | undefined;
  consequence: Content;
  to: string;
  field: Html;
  submit: string;
  kind?: 'danger';
}): Html {
  const { text, error, consequence, to, field, submit, kind } = part;
  return confirmed({
    text,
    consequence,
    isOpen: Boolean(error),
    form: html`<form method="post" action="${to}" class="stack fields">
      ${field}
      <button ${kind ? html`class="${kind}"` : ''} type="submit">${submit}</button>
    </form>`,
  });
}

function resuming({ base, server, now }: ServerView): Content {
  return pauseAt(server, now)
    ? button({ to: adminServerPath(base, server, '/resume'), text: 'End the pause' })
    : '';
}

function hiding({ base, server, typed }: ServerView): Html {
  if (server.hiddenAt) return button({ to: adminServerPath(base, server, '/unhide'), text: 'Unhide' });
  return formPart({
    text: 'Hide…',
    error: typed.errors.reason ?? typed.errors.internalReason,
    consequence:
      'The server is removed from the ranking and public lists. Its API, votes and listener keep working.',
    to: adminServerPath(base, server, '/hide'),
    field: reasonFields({
      typed,
      forOwner: { name: 'reason', reader: 'the owner', required: true },
      internal: { name: 'internalReason' },
    }),
    submit: 'Hide server',
  });
}

function transfer({ base, server, typed }: ServerView): Html {
  return formPart({
    text: 'Transfer…',
    error: typed.errors.email,
    consequence:
      'The new owner gets full access; the old owner and all members lose it. If the server had an owner, its API tokens and claim keys are revoked: plugins need new ones.',
    to: adminServerPath(base, server, '/transfer'),
    field: fieldsOf(typed).text('email', {
      label: 'E-mail address of the new owner',
      type: 'email',
      required: true,
      maxlength: 254,
    }),
    submit: 'Transfer server',
  });
}

function removal({ base, server, typed }: ServerView): Html {
  return formPart({
    text: 'Remove…',
    error: typed.errors.slug,
    consequence:
      'This cannot be undone. Its tokens stop working, its waiting votes fail, and its id and slug are never used again.',
    to: adminServerPath(base, server, '/remove'),
    field: fieldsOf(typed).text('slug', {
      label: `Type ${server.slug} to confirm`,
      required: true,
      spellcheck: false,
    }),
    submit: 'Remove server permanently',
    kind: 'danger',
  });
}

export function allowForm({ base, server, typed }: ServerView): Html {
  const to = adminServerPath(base, server, '/allow-votes');
  const fields = fieldsOf(typed);
  const { errors } = typed;
  return html`<details class="confirm" ${errors.votes || errors.allowReason ? 'open' : ''}>
    <summary class="button quiet">Allow votes…</summary>
    <div class="confirm-body">
      <p>
        So many votes a day count in full for the rank, whatever speaks for them; 0 takes it back. Many votes of one
        network still weigh less. The days of the ranking are weighed again. If the votes were bought, exclude them
        under “Votes and exclusions” instead.
      </p>
      <form method="post" action="${to}" class="stack fields">
        ${fields.text('votes', {
          label: 'Votes a day',
          type: 'number',
          min: 0,
          max: MOST_ALLOWED,
          required: true,
          value: String(server.voteAllowance?.votes ?? 0),
        })}
        ${internalReason(typed, 'allowReason')}
        <button type="submit">Allow</button>
      </form>
    </div>
  </details>`;
}

export function profileRemovalForm({ base, server, typed }: ServerView, parts: ProfilePart[]): Html {
  const { values, errors } = typed;
  const path = adminServerPath(base, server, '/profile/remove');
  const error = errors.part ?? errors.profileReason ?? errors.profileInternalReason;
  return html`<details class="confirm" ${error ? 'open' : ''}>
    <summary class="button quiet">Remove a part…</summary>
    <div class="confirm-body">
      <form method="post" action="${path}" class="stack fields">
        ${select({
          name: 'part',
          label: 'Part',
          value: values.part,
          options: parts.map((part) => [part, partTitle(part)]),
        })}
        ${reasonFields({
          typed,
          forOwner: { name: 'profileReason', reader: 'the owner', required: true },
          internal: { name: 'profileInternalReason' },
        })}
        <button class="danger" type="submit">Remove</button>
      </form>
    </div>
  </details>`;
}

export function partTitle(part: ProfilePart): string {
  const words = t(PART_TEXTS[part]);
  return capitalized(words);
}
