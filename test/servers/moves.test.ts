import { ObjectId, type WithId } from 'mongodb';
import { expect, it } from 'vitest';
import { InvalidDocumentError } from '../../src/platform/document.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { discardMove, findMove, saveMove } from '../../src/servers/moves.ts';
import type { Server } from '../../src/servers/server.ts';
import { type ProveDeps, proveDraft, proveMove } from '../../src/workflows/prove-draft.ts';
import type { Prover } from '../../src/workflows/request-proof.ts';
import { transferServer } from '../../src/workflows/transfer-server.ts';
import { draftOf, gameServer, prover, provingDeps } from './proving.ts';

/** A listed server of `owner` at an address where no server answers. */
async function listed(deps: ProveDeps & AppDeps, owner: Prover, port = 25_565): Promise<WithId<Server>> {
  const settings = { name: 'Alpha', address: 'play.example.org', port, game: 'minecraft' };
  const { serverId } = await addServer(deps, settings, 'test');
  const given = await transferServer(deps, new ObjectId(serverId), owner, 'test');
  if (!given) throw new Error('not listed');
  return given.server;
}

const addressOf = async ({ servers }: ProveDeps, { _id }: { _id: ObjectId }) => {
  const server = await servers.findOne({ _id });
  return server && [server.address, server.port, server.proof?.method];
};

it('a server keeps its address until the new one is proved, and then moves', async () => {
  const deps = await provingDeps();
  const [olivia, game] = [prover(), await gameServer()];
  const server = await listed(deps, olivia);
  const move = await saveMove(deps, server, { address: '127.0.0.1', port: game.port }, olivia._id);
  expect(await proveMove(deps, olivia, server._id)).toEqual({ kind: 'not-proven' });
  expect(await addressOf(deps, server)).toEqual(['play.example.org', 25_565, 'operator']);

  game.said.motd = move.code;
  expect(await proveMove(deps, olivia, server._id)).toEqual({ kind: 'listed', serverId: server._id });
  expect(await addressOf(deps, server)).toEqual(['127.0.0.1', game.port, 'message']);
  expect(await findMove(deps, server._id)).toBeNull();
  expect(await deps.servers.findOne({ _id: server._id })).toMatchObject({
    current: { onlinePlayers: 3, maxPlayers: 20, checkedAt: expect.any(Date) },
    probe: { urgent: true, status: 'online' },
  });
  expect(await deps.auditLog.findOne({ action: 'server.edit' })).toMatchObject({ by: olivia.email });
  expect(await proveMove(deps, olivia, server._id)).toEqual({ kind: 'not-found' });
});

it('a new move replaces the earlier one and has another code', async () => {
  const deps = await provingDeps();
  const olivia = prover();
  const server = await listed(deps, olivia);
  const first = await saveMove(deps, server, { address: '127.0.0.1', port: 1_024 }, olivia._id);
  const second = await saveMove(deps, server, { address: '127.0.0.1', port: 1_025 }, olivia._id);
  expect(await findMove(deps, server._id)).toMatchObject({ port: 1_025, code: second.code });
  expect(second.code).not.toBe(first.code);
  expect(await deps.serverDrafts.countDocuments({})).toBe(1);
  await discardMove(deps, server._id);
  expect(await findMove(deps, server._id)).toBeNull();
});

it('an address where another server is listed is refused, when the move is saved and when it is proved', async () => {
  const deps = await provingDeps();
  const [olivia, other, game] = [prover(), prover(), await gameServer()];
  const server = await listed(deps, olivia);
  const address = { address: '127.0.0.1', port: game.port };
  const move = await saveMove(deps, server, address, olivia._id);
  const draft = await draftOf(deps, other, { port: game.port });
  game.said.motd = `${draft.code} ${move.code}`;
  expect(await proveDraft(deps, other, draft._id)).toMatchObject({ kind: 'listed' });

  expect(await proveMove(deps, olivia, server._id)).toEqual({ kind: 'taken' });
  expect((await addressOf(deps, server))?.[0]).toBe('play.example.org');
  await expect(saveMove(deps, server, address, olivia._id)).rejects.toThrow(InvalidDocumentError);
  const here = { address: server.address, port: server.port };
  await expect(saveMove(deps, server, here, olivia._id)).rejects.toThrow('where the server is already');
});

it('a transfer deletes the move that the earlier owner saved', async () => {
  const deps = await provingDeps();
  const olivia = prover();
  const server = await listed(deps, olivia);
  await saveMove(deps, server, { address: '127.0.0.1', port: 1_024 }, olivia._id);
  await transferServer(deps, server._id, prover(), 'test');
  expect(await findMove(deps, server._id)).toBeNull();
});

it('a move that was deleted while its address was queried changes nothing', async () => {
  const deps = await provingDeps();
  const [olivia, game] = [prover(), await gameServer()];
  const server = await listed(deps, olivia);
  const move = await saveMove(deps, server, { address: '127.0.0.1', port: game.port }, olivia._id);
  game.said.motd = move.code;
  const ask: typeof deps.ask = async (target) => {
    const answer = await deps.ask(target);
    await transferServer(deps, server._id, prover(), 'test');
    return answer;
  };
  expect(await proveMove({ ...deps, ask }, olivia, server._id)).toEqual({ kind: 'not-found' });
  expect(await addressOf(deps, server)).toEqual(['play.example.org', 25_565, 'operator']);
});
