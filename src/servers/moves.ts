import { ObjectId, type WithId } from 'mongodb';
import type { z } from 'zod';
import { otherEdition } from '../games/editions.ts';
import { defineMessage, t } from '../language/t.ts';
import { checked, InvalidDocumentError } from '../platform/document.ts';
import { parseInput } from '../platform/input.ts';
import { retryOnDuplicateKey } from '../platform/mongo.ts';
import type { ServersDeps } from './deps.ts';
import { makeOwnershipCode } from './drafts.ts';
import { findAddressOwner, type ServerAddress } from './listed-addresses.ts';
import { secondSettings } from './second-address.ts';
import type { Server } from './server.ts';
import type { ServerDraft } from './server-draft.ts';
import { serverSettings } from './server-settings.ts';

export const MOVE_TAKEN = defineMessage(
  'Another server is listed there. If it is yours, ask the operator of this listing.',
);

/** Which address of a listed server changes. */
export type MovedAddress = 'first' | 'second';

const firstSettings = serverSettings.pick({ address: true, port: true });
const secondFields = serverSettings.pick({ secondAddress: true, secondPort: true });

/**
 * Stores a new address until `ownerId` proves that it is theirs; it replaces an earlier unproven one. Without the
 * proof, a user could move their own server to another user's address.
 *
 * @throws {InvalidDocumentError} with one sentence for each wrong field
 */
export async function saveMove(
  deps: ServersDeps,
  server: WithId<Server>,
  input: z.input<typeof firstSettings>,
  ownerId: ObjectId,
): Promise<WithId<ServerDraft>> {
  const wanted = parseInput(firstSettings, input);
  await requireNew(deps, server, { wanted, present: server, field: 'address' }, ownerId);
  const { game, queryPort } = server;
  const move = { ...wanted, game: game ?? null, queryPort: queryPort ?? null };
  return storeMove(deps, server, { serverId: server._id, ...move }, ownerId);
}

/** The same for a second address, new or changed. */
export async function saveSecondMove(
  deps: ServersDeps,
  server: WithId<Server>,
  input: z.input<typeof secondFields>,
  ownerId: ObjectId,
): Promise<WithId<ServerDraft>> {
  const { game = null } = server;
  const { secondAddress, secondPort } = secondSettings({ ...parseInput(secondFields, input), game });
  if (secondAddress === null || secondPort === null)
    throw new InvalidDocumentError({ secondAddress: t('Enter the second address.') });
  const wanted = { address: secondAddress, port: secondPort };
  await requireNew(deps, server, { wanted, present: server.second, field: 'secondAddress' }, ownerId);
  const move = { ...wanted, game: otherEdition(game)?.id ?? null, queryPort: null };
  return storeMove(deps, server, { secondOf: server._id, ...move }, ownerId);
}

type Place = {
  wanted: ServerAddress;
  present: ServerAddress | null | undefined;
  field: 'address' | 'secondAddress';
};

async function requireNew(
  deps: ServersDeps,
  { _id }: WithId<Server>,
  { wanted, present, field }: Place,
  ownerId: ObjectId,
): Promise<void> {
  if (wanted.address === present?.address && wanted.port === present.port)
    throw new InvalidDocumentError({ [field]: t('This is where the server is already.') });
  const { kind } = await findAddressOwner(deps, wanted, ownerId, _id);
  if (kind === 'own')
    throw new InvalidDocumentError({ [field]: t('Another server of yours is listed there.') });
  if (kind !== 'nobody') throw new InvalidDocumentError({ [field]: t(MOVE_TAKEN) });
}

type Move = Pick<ServerDraft, 'serverId' | 'secondOf' | 'address' | 'port' | 'game' | 'queryPort'>;

async function storeMove(
  { serverDrafts, clock }: ServersDeps,
  server: WithId<Server>,
  fields: Move,
  ownerId: ObjectId,
): Promise<WithId<ServerDraft>> {
  const move = await checked<ServerDraft>(serverDrafts, {
    _id: new ObjectId(),
    ownerId,
    name: server.name,
    countryCode: server.countryCode ?? null,
    ...fields,
    code: makeOwnershipCode(),
    createdAt: clock.now(),
    check: null,
  });
  const { _id, ...rest } = move;
  const saved = await retryOnDuplicateKey(() =>
    serverDrafts.findOneAndUpdate(
      moveOf(server._id, fields.secondOf ? 'second' : 'first'),
      { $set: rest, $setOnInsert: { _id } },
      { upsert: true, returnDocument: 'after' },
    ),
  );
  return saved ?? move;
}

const moveOf = (serverId: ObjectId, moved: MovedAddress) =>
  moved === 'second' ? { secondOf: serverId } : { serverId };

/** Null when no new address waits for its proof. */
export function findMove({ serverDrafts }: ServersDeps, serverId: ObjectId, moved: MovedAddress = 'first') {
  return serverDrafts.findOne(moveOf(serverId, moved));
}

export async function discardMove(
  { serverDrafts }: ServersDeps,
  serverId: ObjectId,
  moved: MovedAddress = 'first',
): Promise<void> {
  await serverDrafts.deleteOne(moveOf(serverId, moved));
}

/** The filter of all moves of a server. */
export function movesOf(serverId: ObjectId) {
  return { $or: [{ serverId }, { secondOf: serverId }] };
}
