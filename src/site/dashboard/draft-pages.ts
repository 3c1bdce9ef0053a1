import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ObjectId } from 'mongodb';
import { t } from '../../language/t.ts';
import { discardDraft, findDraft } from '../../servers/drafts.ts';
import { isId } from '../../servers/slug.ts';
import { type ProofEnded, proveDraftNow } from '../../workflows/answer-now.ts';
import { userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { SIGNED_IN } from '../page-route.ts';
import { contactText } from '../shared/contact.ts';
import { html } from '../shared/html.ts';
import { sendPage } from '../shared/layout.ts';
import { button, confirmed } from '../shared/parts.ts';
import type { DashboardParts } from './dashboard-parts.ts';
import { notAnsweredStatus, notAnsweredText } from './not-answered.ts';
import { ownershipProofCards } from './ownership-proof.ts';

/** Parses an id; null if it is invalid. */
export function idOf(text: unknown): ObjectId | null {
  return typeof text === 'string' && isId(text) ? new ObjectId(text) : null;
}

/** `/dashboard/drafts/<id>`: a server that is not listed until its ownership is verified. */
export function draftPages(app: FastifyInstance, { deps }: DashboardParts): void {
  const { base } = app.site;
  const pathOf = (draftId: ObjectId) => `${base}/dashboard/drafts/${draftId.toHexString()}`;
  const draftIdOf = (request: FastifyRequest): ObjectId => {
    const draftId = idOf((request.params as { draftId?: string }).draftId);
    if (!draftId) throw noDraft();
    return draftId;
  };

  const isListed = async (request: FastifyRequest): Promise<boolean> => {
    const own = { _id: draftIdOf(request), ownerId: userOf(request)._id, removedAt: null };
    return (await deps.servers.findOne(own, { projection: { _id: 1 } })) !== null;
  };

  app.get('/drafts/:draftId', SIGNED_IN, async (request, reply) => {
    const draft = await findDraft(deps, userOf(request)._id, draftIdOf(request));
    if (!draft) {
      // The server is listed by now, under the draft's id: the user went back or has a second tab.
      if (await isListed(request))
        return reply.redirect(`${base}/dashboard/servers/${draftIdOf(request)}`, 303);
      throw noDraft();
    }
    const path = pathOf(draft._id);
    const now = deps.clock.now();
    const correct = `${base}/dashboard/servers/new?draft=${draft._id.toHexString()}`;
    return sendPage(request, reply, {
      title: draft.name,
      body: html`<div class="page-head"><div>
          <p class="small"><a href="${base}/dashboard">${t('Your servers')}</a></p>
          <h1><bdi>${draft.name}</bdi></h1>
        </div>
        <div class="actions">
          <a class="button quiet" href="${correct}">${t('Edit')}</a>
          ${confirmed({ text: t('Discard'), consequence: t('Your entries are deleted, and the verification code becomes invalid.'), form: button({ to: `${path}/discard`, text: t('Discard draft'), kind: 'danger' }) })}
        </div></div>
        ${ownershipProofCards({ draft, now, action: `${path}/check`, correct })}`,
    });
  });

  app.post('/drafts/:draftId/check', SIGNED_IN, async (request, reply) => {
    const draftId = draftIdOf(request);
    const proved = proveDraftNow(deps, userOf(request), draftId);
    return afterProving(reply, base, proved, pathOf(draftId));
  });

  app.post('/drafts/:draftId/discard', SIGNED_IN, async (request, reply) => {
    await discardDraft(deps, userOf(request)._id, draftIdOf(request));
    return reply.redirect(`${base}/dashboard?done=discarded`, 303);
  });
}

function noDraft(): PageError {
  return new PageError(404, t('You have no draft with this id.'));
}

/**
 * Redirects after a check: to the listed server, or back to `path`, which shows the check.
 *
 * @param done - the code of the message on the server's page
 */
export async function afterProving(
  reply: FastifyReply,
  base: string,
  proving: Promise<ProofEnded>,
  path: string,
  done = 'listed',
): Promise<FastifyReply> {
  const proved = await proving;
  const contact = contactText(reply.server.site);
  switch (proved.kind) {
    case 'listed':
      return reply.redirect(`${base}/dashboard/servers/${proved.serverId.toHexString()}?done=${done}`, 303);
    case 'not-proven':
      return reply.redirect(`${path}#check`, 303);
    case 'taken':
      throw new PageError(
        409,
        `${t('This address and port are already listed for another owner. If the server is yours, contact the operator of this listing.')}${contact}`,
      );
    case 'too-many-servers':
      throw new PageError(
        409,
        `${t('Your account has reached its maximum number of servers. Remove one, or ask the operator of this listing for more.')}${contact}`,
      );
    case 'refused':
      throw new PageError(
        429,
        t(
          'You can check a server six times a minute, including test votes and changes to settings. Go back and try again later.',
        ),
        proved.nextAllowedAt,
      );
    case 'busy':
      throw new PageError(503, t('Another server is being listed right now. Check again.'));
    case 'not-found':
      throw noDraft();
    default:
      throw new PageError(notAnsweredStatus(proved), notAnsweredText(proved));
  }
}
