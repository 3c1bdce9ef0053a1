import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { statusAt } from '../../history/current-status.ts';
import { defaultLanguage, type Language } from '../../language/language.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { type DrawingState, PREVIEWS, readDrawing, readDrawingState } from '../../servers/drawn-pictures.ts';
import { pauseAt } from '../../servers/listing-pause.ts';
import type { Server } from '../../servers/server.ts';
import type { Site } from '../shared/decorate-site.ts';
import { serverAddress } from '../shared/server-status.ts';
import { keepUpToDate } from './drawn-images.ts';

/** Sent until a worker has drawn the server's card. */
const PLACEHOLDER = readFileSync(new URL('./card-placeholder.png', import.meta.url));

/** If you change the design of the card, increment it: then all cards are drawn again. */
const DRAWING = 3;

/** The newest drawing as PNG, or a placeholder. If it is outdated, a worker draws a new one. */
export async function previewImage(deps: AppDeps, request: FastifyRequest, server: WithId<Server>) {
  const card = await readDrawing(deps, PREVIEWS, server._id);
  await keepPreview(deps, request, server, card);
  return card?.png ?? PLACEHOLDER;
}

/**
 * Contains the time of the drawing, so that a chat that has cached the placeholder requests the new drawing. An
 * outdated one is ordered here already, because a chat requests the image right after the page.
 */
export async function previewPath(deps: AppDeps, request: FastifyRequest, server: WithId<Server>) {
  const card = await readDrawingState(deps, PREVIEWS, server._id);
  await keepPreview(deps, request, server, card);
  return card?.drawnAt ? `/card.png?drawn=${Math.floor(card.drawnAt.getTime() / 1_000)}` : '/card.png';
}

async function keepPreview(
  deps: AppDeps,
  request: FastifyRequest,
  server: WithId<Server>,
  card: DrawingState | null,
): Promise<void> {
  if (server.hiddenAt) return;
  const key = keyOf(server, request.server.site, defaultLanguage(deps.config), deps.clock.now());
  await keepUpToDate(deps, request, { kind: PREVIEWS, server, id: server._id, key, state: card });
}

function keyOf(server: WithId<Server>, { name, logo }: Site, language: Language, now: Date): string {
  const { banner, icon } = server.profile ?? {};
  const pictures = [banner?.wide ?? '', icon?.picture ?? '', logo.isOwn ? logo.path : ''];
  const shown = [
    DRAWING,
    language,
    server.name,
    server.game,
    serverAddress(server),
    pauseAt(server, now) ? 'paused' : statusAt(server, now),
    name,
    ...pictures,
  ];
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url');
}
