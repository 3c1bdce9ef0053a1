import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { statusAt } from '../../history/current-status.ts';
import { MINUTE } from '../../platform/clock.ts';
import { countUse } from '../../platform/limits/by-network.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import type { AppDeps } from '../../process/app-deps.ts';
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

/** A preview card without texts. It is sent until a worker has drawn the server's card. */
const PLACEHOLDER = readFileSync(new URL('./card-placeholder.png', import.meta.url));

const DRAWINGS = defineLimit({
  key: 'cards:address',
  what: 'New drawings of preview images',
  of: 'network',
  times: 60,
  windowMs: MINUTE,
  beyond: 'the stored drawing, or a placeholder',
});

/** The version of the card's design. If you change the design, increment it: then all cards are drawn again. */
const DRAWING = 2;

type Look = Pick<Site, 'name' | 'logo'>;

/** The newest drawing of the server's card as PNG, or a placeholder. If it is outdated, a worker draws a new one. */
export async function previewImage(
  deps: AppDeps,
  look: Look,
  request: FastifyRequest,
  server: WithId<Server>,
): Promise<Buffer> {
  const card = await readCard(deps, server._id);
  await keepUpToDate(deps, look, request, server, card);
  return card?.png ?? PLACEHOLDER;
}

/**
 * The path of the preview image. It contains the time of the drawing, so that a chat that has cached the placeholder
 * requests the new drawing. If the drawing is outdated: a new one is ordered here already, because a chat requests the
 * image right after the page.
 */
export async function previewPath(
  deps: AppDeps,
  look: Look,
  request: FastifyRequest,
  server: WithId<Server>,
): Promise<string> {
  const card = await readCardState(deps, server._id);
  await keepUpToDate(deps, look, request, server, card);
  return card?.drawnAt ? `/card.png?drawn=${Math.floor(card.drawnAt.getTime() / 1_000)}` : '/card.png';
}

async function keepUpToDate(
  deps: AppDeps,
  look: Look,
  { ip, log }: FastifyRequest,
  server: WithId<Server>,
  card: CardState | null,
): Promise<void> {
  const now = deps.clock.now();
  const key = keyOf(server, look, now);
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

/** A hash of what a card shows, except the server's figures. */
function keyOf(server: WithId<Server>, { name, logo }: Look, now: Date): string {
  const { banner, icon } = server.profile ?? {};
  const pictures = [banner?.wide ?? '', icon?.picture ?? '', logo.isOwn ? logo.path : ''];
  const shown = [
    DRAWING,
    server.name,
    server.game,
    serverAddress(server),
    statusAt(server, now),
    name,
    ...pictures,
  ];
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url');
}
