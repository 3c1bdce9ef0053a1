import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ObjectId, WithId } from 'mongodb';
import { t } from '../../language/t.ts';
import { CHECKS } from '../../platform/limits/check-allowance.ts';
import { discardDraft, findDraft } from '../../servers/drafts.ts';
import type { ServerDraft } from '../../servers/server-draft.ts';
import { type ProofEnded, proveDraftNow } from '../../workflows/answer-now.ts';
import { PageError } from '../error-pages.ts';
import { userOf } from '../guard-routes.ts';
import { SIGNED_IN } from '../route-options.ts';
import { contactText } from '../shared/contact.ts';
import type { Site } from '../shared/decorate-site.ts';
import { formRoute, type RefusedForm, refused } from '../shared/form-route.ts';
import { html } from '../shared/html.ts';
import { idParam } from '../shared/id-param.ts';
import { type Page, sendPage } from '../shared/layout.ts';
import { notAnsweredStatus, notAnsweredText } from '../shared/not-answered.ts';
import { button, confirmed } from '../shared/parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { ownershipProofCards } from './ownership-proof.ts';

/** `/dashboard/drafts/<id>`: a server that is not listed until its ownership is verified. */
export function draftPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;
  const draftIdOf = (request: FastifyRequest) => idParam(request, 'draftId');
  const page = async (request: FastifyRequest): Promise<Page | null> => {
    const draft = await findDraft(deps, userOf(request)._id, draftIdOf(request));
    return draft && draftPage(base, draft, deps.clock.now());
  };

  const isListed = async (request: FastifyRequest): Promise<boolean> => {
    const own = { _id: draftIdOf(request), ownerId: userOf(request)._id, removedAt: null };
    return (await deps.servers.findOne(own, { projection: { _id: 1 } })) !== null;
  };

  app.get('/drafts/:draftId', SIGNED_IN, async (request, reply) => {
    const found = await page(request);
    if (found) return sendPage(request, reply, found);
    // If the draft is a listed server now (with the same id), as after the Back button or in a second tab: redirect.
    if (await isListed(request))
      return reply.redirect(`${base}/dashboard/servers/${draftIdOf(request)}`, 303);
    throw new PageError(404, t('You have no draft with this id.'));
  });

  formRoute(app, {
    path: '/drafts/:draftId/check',
    access: SIGNED_IN,
    show: page,
    run: ({ request, user }) => {
      const draftId = draftIdOf(request);
      const proving = proveDraftNow(deps, user, draftId);
      return afterProving(app.site, proving, draftPath(base, draftId));
    },
  });

  formRoute(app, {
    path: '/drafts/:draftId/discard',
    access: SIGNED_IN,
    run: async ({ request, user }) => {
      await discardDraft(deps, user._id, draftIdOf(request));
      return `${base}/dashboard?done=discarded`;
    },
  });
}

export function draftPath(base: string, draftId: ObjectId): string {
  return `${base}/dashboard/drafts/${draftId.toHexString()}`;
}

/** The page of a draft: the result of the latest check, and the ways to prove the ownership. */
export function draftPage(base: string, draft: WithId<ServerDraft>, now: Date): Page {
  const path = draftPath(base, draft._id);
  const correct = `${base}/dashboard/servers/new?draft=${draft._id.toHexString()}`;
  return {
    title: draft.name,
    body: html`<div class="page-head"><div>
        <p class="small"><a href="${base}/dashboard">${t('Your servers')}</a></p>
        <h1><bdi>${draft.name}</bdi></h1>
      </div>
      <div class="actions">
        <a class="button quiet" href="${correct}">${t('Edit')}</a>
        ${confirmed({
          text: t('Discard'),
          consequence: t('Your entries are deleted, and the verification code becomes invalid.'),
          form: button({ to: `${path}/discard`, text: t('Discard draft'), kind: 'danger' }),
        })}
      </div></div>
      ${ownershipProofCards({ draft, now, action: `${path}/check`, correct })}`,
  };
}

export function noDraft(): RefusedForm {
  return refused(404, t('You have no draft with this id.'));
}

/**
 * The answer to a form that checks the ownership. If the ownership is proven: a redirect to the listed server, with the
 * message `done`. If it is not proven: a redirect to `path`, which shows the result. Otherwise a refusal.
 */
export async function afterProving(
  site: Site,
  proving: Promise<ProofEnded>,
  path: string,
  done = 'listed',
): Promise<string | RefusedForm> {
  const proved = await proving;
  switch (proved.kind) {
    case 'listed':
      return `${site.base}/dashboard/servers/${proved.serverId.toHexString()}?done=${done}`;
    case 'not-proven':
      return `${path}#check`;
    case 'taken':
      return refused(
        409,
        `${t('This address and port are already listed for another owner. If the server is yours, contact the operator of this listing.')}${contactText(site)}`,
      );
    case 'too-many-servers':
      return refused(
        409,
        `${t('Your account has reached its maximum number of servers. Remove one, or ask the operator of this listing for more.')}${contactText(site)}`,
      );
    case 'refused':
      return refused(
        429,
        t('You can check a server {times} times a minute, including test votes and changes to settings.', {
          times: CHECKS.times,
        }),
        proved.nextAllowedAt,
      );
    case 'busy':
      return refused(503, t('Another server is being listed right now. Check again.'));
    case 'not-found':
      return noDraft();
    default:
      return refused(notAnsweredStatus(proved), notAnsweredText(proved));
  }
}
