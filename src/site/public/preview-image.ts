import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { statusAt } from '../../history/current-status.ts';
import { MINUTE } from '../../platform/clock.ts';
import { byNetwork, takeAll } from '../../platform/limits/by-network.ts';
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
import { addressOf } from '../shared/server-status.ts';
import type { Site } from '../shared/site-settings.ts';

/** What is sent until a worker has drawn the card: the same card without texts. */
const PLACEHOLDER = readFileSync(new URL('./card-placeholder.png', import.meta.url));

/** How many drawings a network may cause. Above this number, requests get what is stored. */
const DRAWINGS = { times: 60, windowMs: MINUTE };

/** Changes when cards are to be drawn in another way. */
const DRAWING = 1;

type Look = Pick<Site, 'name' | 'logo'>;

/**
 * The preview of links to a server as PNG: the newest that a worker has drawn, or a placeholder. If it is outdated, a worker
 * is asked for another one, within a limit for each network.
 */
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
 * The path of the preview in a server's page. It has the time of the drawing, so that a chat that has stored the
 * placeholder asks again. If the drawing is outdated: a worker is asked for another one now, because chats ask for the
 * preview next.
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
  { ip }: FastifyRequest,
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
  if (await takeAll(deps, byNetwork('cards:address', ip, DRAWINGS))) return;
  await markCardDue(deps, server._id, key);
  // If Redis does not answer: nothing waits for it, and the scheduler finds the mark later.
  void deps.producer.add('draw-cards', { serverId: server._id.toHexString() }, { subject: server.slug });
}

/** What a card shows, apart from its figures. */
function keyOf(server: WithId<Server>, { name, logo }: Look, now: Date): string {
  const shown = [DRAWING, server.name, addressOf(server), statusAt(server, now), name];
  const ownLogo = logo.isOwn ? logo.path : '';
  return createHash('sha256')
    .update(JSON.stringify([...shown, ownLogo]))
    .digest('base64url');
}
