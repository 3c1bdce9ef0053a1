import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import { ObjectId } from 'mongodb';
import { type Proved, proveDraft } from '../../listing/prove-draft.ts';
import { discardDraft, findDraft } from '../../servers/drafts.ts';
import { isId } from '../../servers/slug.ts';
import { userOf } from '../access.ts';
import { PageError } from '../error-pages.ts';
import { sendPage } from '../layout.ts';
import { SIGNED_IN } from '../page-route.ts';
import { button, confirmed } from '../parts.ts';
import type { DashboardSources } from './dashboard-sources.ts';
import { proofCards } from './proof.ts';

/** The id that was given; null when it is none. */
export function idOf(text: unknown): ObjectId | null {
  return typeof text === 'string' && isId(text) ? new ObjectId(text) : null;
}

/** `/dashboard/drafts/<id>`: a server that is not listed before it is proved to be its owner's. */
export function draftPages(app: FastifyInstance, { platform, ask }: DashboardSources): void {
  const { base } = app.site;
  const pathOf = (draftId: ObjectId) => `${base}/dashboard/drafts/${draftId.toHexString()}`;
  const wanted = (request: FastifyRequest): ObjectId => {
    const draftId = idOf((request.params as { draftId?: string }).draftId);
    if (!draftId) throw noDraft();
    return draftId;
  };

  const isListed = async (request: FastifyRequest): Promise<boolean> => {
    const own = { _id: wanted(request), ownerId: userOf(request)._id, removedAt: null };
    return (await platform.servers.findOne(own, { projection: { _id: 1 } })) !== null;
  };

  app.get('/drafts/:draftId', SIGNED_IN, async (request, reply) => {
    const draft = await findDraft(platform, userOf(request)._id, wanted(request));
    if (!draft) {
      // Gone back to after the proof, or open in a second tab: it is listed under the draft's id.
      if (await isListed(request)) return reply.redirect(`${base}/dashboard/servers/${wanted(request)}`, 303);
      throw noDraft();
    }
    const path = pathOf(draft._id);
    const now = platform.clock.now();
    const correct = `${base}/dashboard/servers/new?draft=${draft._id.toHexString()}`;
    return sendPage(request, reply, {
      title: draft.name,
      body: html`<div class="page-head"><div>
          <p class="small"><a href="${base}/dashboard">Your servers</a></p>
          <h1><bdi>${draft.name}</bdi></h1>
        </div>
        <div class="actions">
          <a class="button quiet" href="${correct}">Correct</a>
          ${confirmed({ text: 'Discard', consequence: 'What you entered is forgotten, and its code works no more.', form: button({ to: `${path}/discard`, text: 'Discard it', kind: 'danger' }) })}
        </div></div>
        ${proofCards({ draft, now, action: `${path}/check`, correct })}`,
    });
  });

  app.post('/drafts/:draftId/check', SIGNED_IN, async (request, reply) => {
    const draftId = wanted(request);
    const proved = proveDraft({ ...platform, ask }, userOf(request), draftId);
    return afterProving(reply, base, proved, pathOf(draftId));
  });

  app.post('/drafts/:draftId/discard', SIGNED_IN, async (request, reply) => {
    await discardDraft(platform, userOf(request)._id, wanted(request));
    return reply.redirect(`${base}/dashboard?done=discarded`, 303);
  });
}

function noDraft(): PageError {
  return new PageError(404, 'You have no such draft.');
}

/**
 * Sends a user on after a check: to the server that is listed now, or back to `path`, where the check stands.
 *
 * @param done - what the server's page says
 */
export async function afterProving(
  reply: FastifyReply,
  base: string,
  proving: Promise<Proved>,
  path: string,
  done = 'listed',
): Promise<FastifyReply> {
  const proved = await proving.catch((error: unknown) => {
    if (!(error instanceof DOMException && error.name === 'TimeoutError')) throw error;
    throw new PageError(503, 'Somebody else’s server is being listed at this moment. Check again.');
  });
  switch (proved.kind) {
    case 'listed':
      return reply.redirect(`${base}/dashboard/servers/${proved.serverId.toHexString()}?done=${done}`, 303);
    case 'not-proven':
      return reply.redirect(`${path}#check`, 303);
    case 'taken':
      throw new PageError(
        409,
        'This address and port are listed already and belong to somebody else. If the server is yours, ask the operator of this listing.',
      );
    case 'too-many-servers':
      throw new PageError(
        409,
        'You have as many servers as one account may have here. Remove one, or ask the operator of this listing for more.',
      );
    case 'refused':
      throw new PageError(
        429,
        'You may check a server six times a minute, test votes and changed settings included. Wait a moment, then go back and try again.',
        proved.nextAllowedAt,
      );
    case 'not-found':
      throw noDraft();
  }
}
