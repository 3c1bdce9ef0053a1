import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { statusAt } from '../../history/current-status.ts';
import { MINUTE } from '../../platform/clock.ts';
import { countUse } from '../../platform/limits/by-network.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { pauseAt } from '../../servers/listing-pause.ts';
import {
  type CardState,
  isOutdated,
  markCardDue,
  noteAsked,
  readCard,
  readCardState,
} from '../../servers/preview-cards.ts';
import type { Server } from '../../servers/server.ts';
import type { Site } from '../shared/decorate-site.ts';
import { serverAddress } from '../shared/server-status.ts';

/** Sent until a worker has drawn the server's card. */
const PLACEHOLDER = readFileSync(new URL('./card-placeholder.png', import.meta.url));

const DRAWINGS = defineLimit({
  key: 'cards:address',
  what: 'New drawings of preview images',
  of: 'network',
  times: 60,
  windowMs: MINUTE,
  beyond: 'the stored drawing, or a placeholder',
});

/** If you change the design of the card, increment it: then all cards are drawn again. */
const DRAWING = 2;

/** The newest drawing as PNG, or a placeholder. If it is outdated, a worker draws a new one. */
export async function previewImage(deps: AppDeps, request: FastifyRequest, server: WithId<Server>) {
  const card = await readCard(deps, server._id);
  await keepUpToDate(deps, request, server, card);
  return card?.png ?? PLACEHOLDER;
}

/**
 * Contains the time of the drawing, so that a chat that has cached the placeholder requests the new drawing. An
 * outdated one is ordered here already, because a chat requests the image right after the page.
 */
export async function previewPath(deps: AppDeps, request: FastifyRequest, server: WithId<Server>) {
  const card = await readCardState(deps, server._id);
  await keepUpToDate(deps, request, server, card);
  return card?.drawnAt ? `/card.png?drawn=${Math.floor(card.drawnAt.getTime() / 1_000)}` : '/card.png';
}

async function keepUpToDate(
  deps: AppDeps,
  { ip, log, server: { site } }: FastifyRequest,
  server: WithId<Server>,
  card: CardState | null,
): Promise<void> {
  const now = deps.clock.now();
  const key = keyOf(server, site, now);
  if (server.hiddenAt) return;
  if (!isOutdated(card, key, now)) {
    if (card) await noteAsked(deps, server._id, card);
    return;
  }
  if (await countUse(deps, DRAWINGS, ip)) return;
  // Not awaited: if the process ends before the write, the next request marks the card.
  void orderDrawing(deps, server, key).catch((error: unknown) => log.warn(error, 'a card was not marked'));
}

async function orderDrawing(deps: AppDeps, { _id, slug }: WithId<Server>, key: string): Promise<void> {
  await markCardDue(deps, _id, key);
  // If Redis does not answer: the mark stays in the database, and the scheduler finds it later.
  await deps.producer.add('draw-cards', { serverId: _id.toHexString() }, { subject: slug });
}

function keyOf(server: WithId<Server>, { name, logo }: Site, now: Date): string {
  const { banner, icon } = server.profile ?? {};
  const pictures = [banner?.wide ?? '', icon?.picture ?? '', logo.isOwn ? logo.path : ''];
  const shown = [
    DRAWING,
    server.name,
    server.game,
    serverAddress(server),
    pauseAt(server, now) ? 'paused' : statusAt(server, now),
    name,
    ...pictures,
  ];
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url');
}
