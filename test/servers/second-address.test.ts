import { ObjectId, type WithId } from 'mongodb';
import { expect, it, onTestFinished } from 'vitest';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { findAddressOwner } from '../../src/servers/listed-addresses.ts';
import { addServer, editServer } from '../../src/servers/listed-servers.ts';
import { findMove, saveMove, saveSecondMove } from '../../src/servers/moves.ts';
import type { Server } from '../../src/servers/server.ts';
import { type ProveDeps, proveDraft, proveMove } from '../../src/workflows/prove-draft.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import type { Prover } from '../../src/workflows/request-proof.ts';
import { transferServer } from '../../src/workflows/transfer-server.ts';
import { BedrockServer } from '../support/fake-game-servers.ts';
import { draftOf, gameServer, prover, provingDeps } from './proving.ts';

type Deps = AppDeps & ProveDeps;

async function bedrockServer(): Promise<BedrockServer> {
  const game = new BedrockServer();
  await game.start();
  onTestFinished(() => game.stop());
  return game;
}

/** A listed Java server of `owner`. */
async function listed(deps: Deps, owner: Prover): Promise<WithId<Server>> {
  const settings = { name: 'Alpha', address: 'play.example.org', port: 25_565, game: 'minecraft' };
  const { serverId } = await addServer(deps, settings, 'test');
  const given = await transferServer(deps, new ObjectId(serverId), owner, 'test');
  if (!given) throw new Error('not listed');
  return given.server;
}

const at = ({ port }: { port: number }) => ({ secondAddress: '127.0.0.1', secondPort: port });

it('a draft with two addresses is listed when the message of each shows the code', async () => {
  const deps = await provingDeps();
  const [olivia, java, bedrock] = [prover(), await gameServer(), await bedrockServer()];
  const draft = await draftOf(deps, olivia, { port: java.port, ...at(bedrock) });
  java.said.motd = draft.code;
  expect(await proveDraft(deps, olivia, draft._id)).toEqual({ kind: 'not-proven' });
  expect((await deps.serverDrafts.findOne({ _id: draft._id }))?.check).toMatchObject({
    reached: true,
    proof: 'message',
    second: { reached: true, proof: null, dns: 'no-name' },
  });

  bedrock.said.motd = `Hello ${draft.code}`;
  expect(await proveDraft(deps, olivia, draft._id)).toMatchObject({ kind: 'listed' });
  expect(await deps.servers.findOne({ _id: draft._id })).toMatchObject({
    port: java.port,
    proof: { method: 'message' },
    second: { address: '127.0.0.1', port: bedrock.port, proof: { method: 'message' } },
  });
  expect(await deps.auditLog.findOne({ action: 'server.add', serverId: draft._id })).toMatchObject({
    details: at(bedrock),
  });
  // Both are taken now.
  const other = prover();
  await expect(draftOf(deps, other, { port: bedrock.port, game: 'mbe' })).rejects.toThrow('listed already');
  await expect(draftOf(deps, other, { port: 1_024, ...at(java) })).rejects.toThrow('listed already');
});

it('the second address must answer too', async () => {
  const deps = await provingDeps();
  const [olivia, java] = [prover(), await gameServer()];
  const draft = await draftOf(deps, olivia, { port: java.port, ...at({ port: 1_024 }) });
  java.said.motd = draft.code;
  expect(await proveDraft(deps, olivia, draft._id)).toEqual({ kind: 'not-proven' });
  expect((await deps.serverDrafts.findOne({ _id: draft._id }))?.check?.second).toMatchObject({
    reached: false,
    proof: null,
  });
});

it('a server gets a second address when it is proven, and keeps its first one', async () => {
  const deps = await provingDeps();
  const [olivia, bedrock] = [prover(), await bedrockServer()];
  const server = await listed(deps, olivia);
  const move = await saveSecondMove(deps, server, at(bedrock), olivia._id);
  expect(move).toMatchObject({ game: 'mbe', port: bedrock.port });
  expect(await proveMove(deps, olivia, server._id, 'second')).toEqual({ kind: 'not-proven' });
  expect(await deps.servers.findOne({ _id: server._id })).not.toHaveProperty('second');

  bedrock.said.motd = move.code;
  expect(await proveMove(deps, olivia, server._id, 'second')).toMatchObject({ kind: 'listed' });
  expect(await deps.servers.findOne({ _id: server._id })).toMatchObject({
    address: 'play.example.org',
    port: 25_565,
    proof: { method: 'operator' },
    second: { address: '127.0.0.1', port: bedrock.port, proof: { method: 'message' } },
  });
  expect(await findMove(deps, server._id, 'second')).toBeNull();
  expect(await deps.auditLog.findOne({ action: 'server.edit' })).toMatchObject({
    by: olivia.email,
    details: at(bedrock),
  });
  expect(await proveMove(deps, olivia, server._id, 'second')).toEqual({ kind: 'not-found' });
});

it('a second address cannot be that of another server, nor taken while it was proven', async () => {
  const deps = await provingDeps();
  const [olivia, other, bedrock] = [prover(), prover(), await bedrockServer()];
  const server = await listed(deps, olivia);
  const move = await saveSecondMove(deps, server, at(bedrock), olivia._id);
  const draft = await draftOf(deps, other, { port: bedrock.port, game: 'mbe' });
  bedrock.said.motd = `${draft.code} ${move.code}`;
  expect(await proveDraft(deps, other, draft._id)).toMatchObject({ kind: 'listed' });
  expect(await proveMove(deps, olivia, server._id, 'second')).toEqual({ kind: 'taken' });
  await expect(saveSecondMove(deps, server, at(bedrock), olivia._id)).rejects.toThrow(
    'Another server is listed',
  );
});

it('a move of each address waits for its own proof, and both end with the server', async () => {
  const deps = await provingDeps();
  const olivia = prover();
  const server = await listed(deps, olivia);
  const first = await saveMove(deps, server, { address: '127.0.0.1', port: 1_024 }, olivia._id);
  const second = await saveSecondMove(
    deps,
    server,
    { secondAddress: 'b.example.org', secondPort: null },
    olivia._id,
  );
  expect(second).toMatchObject({ port: 19_132 });
  expect(first.code).not.toBe(second.code);
  expect(await deps.serverDrafts.countDocuments({})).toBe(2);
  await removeServer(deps, server._id, 'test');
  expect(await deps.serverDrafts.countDocuments({})).toBe(0);
});

it('the edition of a planned second address must still be the other one', async () => {
  const deps = await provingDeps();
  const [olivia, bedrock] = [prover(), await bedrockServer()];
  const server = await listed(deps, olivia);
  const move = await saveSecondMove(deps, server, at(bedrock), olivia._id);
  bedrock.said.motd = move.code;
  await editServer(deps, server._id, { game: 'mbe' }, 'test');
  expect(await proveMove(deps, olivia, server._id, 'second')).toEqual({ kind: 'not-found' });
});

it('a proof at either address gives the whole server to the user', async () => {
  const deps = await provingDeps();
  const [olivia, bedrock] = [prover(), await bedrockServer()];
  const settings = {
    name: 'Both',
    address: 'play.example.org',
    port: 25_565,
    game: 'minecraft',
    ...at(bedrock),
  };
  const { serverId } = await addServer(deps, settings, 'operator');
  const draft = await draftOf(deps, olivia, { port: bedrock.port, game: 'mbe' });
  bedrock.said.motd = draft.code;
  const _id = new ObjectId(serverId);
  expect(await proveDraft(deps, olivia, draft._id)).toEqual({ kind: 'listed', serverId: _id });
  expect(await deps.servers.findOne({ _id })).toMatchObject({
    ownerId: olivia._id,
    address: 'play.example.org',
    second: { port: bedrock.port },
  });
  const place = { address: 'play.example.org', port: 25_565 };
  expect(await findAddressOwner(deps, place, olivia._id)).toMatchObject({ kind: 'own' });
});

it('a user who adopts a server brings the second address that they proved', async () => {
  const deps = await provingDeps();
  const [olivia, java, bedrock] = [prover(), await gameServer(), await bedrockServer()];
  const settings = { name: 'Imported', address: '127.0.0.1', port: java.port, game: 'minecraft' };
  const { serverId } = await addServer(deps, settings, 'operator');
  const draft = await draftOf(deps, olivia, { port: java.port, ...at(bedrock) });
  java.said.motd = draft.code;
  bedrock.said.motd = draft.code;
  expect(await proveDraft(deps, olivia, draft._id)).toMatchObject({ kind: 'listed' });
  expect(await deps.servers.findOne({ _id: new ObjectId(serverId) })).toMatchObject({
    ownerId: olivia._id,
    second: { port: bedrock.port, proof: { method: 'message' } },
  });
});
