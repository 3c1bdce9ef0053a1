import type { FastifyRequest } from 'fastify';
import type { WithId } from 'mongodb';
import { MINUTE } from '../../platform/clock.ts';
import { countUse } from '../../platform/limits/by-network.ts';
import { defineLimit } from '../../platform/limits/define-limit.ts';
import type { BannerSize } from '../../platform/pictures/banner-sizes.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import {
  type DrawingState,
  type DrawnKind,
  isOutdated,
  markDue,
  noteAsked,
  type PictureId,
} from '../../servers/drawn-pictures.ts';
import type { Server } from '../../servers/server.ts';

const DRAWINGS = defineLimit({
  key: 'cards:address',
  what: 'New drawings of preview images and of banners as PNG',
  of: 'network',
  times: 60,
  windowMs: MINUTE,
  beyond: 'the stored drawing, or a placeholder',
});

export type Drawn = {
  kind: DrawnKind;
  server: WithId<Server>;
  id: PictureId;
  /** If it differs from the key of the drawing, the picture is drawn again sooner. */
  key: string;
  state: DrawingState | null;
  banner?: BannerSize;
};

/** Orders a new drawing of a picture that was requested and is outdated. */
export async function keepUpToDate(deps: AppDeps, { ip, log }: FastifyRequest, drawn: Drawn): Promise<void> {
  const { kind, id, key, state } = drawn;
  if (!isOutdated(kind, state, key, deps.clock.now())) {
    if (state) await noteAsked(deps, kind, id, state);
    return;
  }
  if (await countUse(deps, DRAWINGS, ip)) return;
  // Not awaited: if the process ends before the write, the next request marks the picture.
  void orderDrawing(deps, drawn).catch((error: unknown) => log.warn(error, 'a picture was not marked'));
}

async function orderDrawing(deps: AppDeps, { kind, server, id, key, state, banner }: Drawn): Promise<void> {
  await markDue(deps, kind, id, key);
  // If Redis does not answer: the mark stays in the database, and the scheduler finds it later.
  const payload = { serverId: server._id.toHexString(), ...(banner && { banner }) };
  // A picture that has a drawing waits for those that have none.
  const last = state?.drawnAt !== undefined;
  await deps.producer.add('draw-cards', payload, { subject: server.slug, last });
}
