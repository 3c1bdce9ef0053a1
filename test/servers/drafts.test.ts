import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { MINUTE } from '../../src/platform/clock.ts';
import { InvalidDocumentError } from '../../src/platform/document.ts';
import {
  discardDraft,
  findDraft,
  listDrafts,
  saveDraft,
  TooManyDraftsError,
} from '../../src/servers/drafts.ts';
import { addServer, listServers } from '../../src/servers/listed-servers.ts';
import { proveDraft } from '../../src/workflows/prove-draft.ts';
import { removeServer } from '../../src/workflows/remove-server.ts';
import { transferServer } from '../../src/workflows/transfer-server.ts';
import type { JavaServer } from '../support/fake-game-servers.ts';
import { ipv4, nameServer, txt, useNameServers, type Zone } from '../support/fake-name-server.ts';
import { draftOf, gameServer, prover, provingDeps, requestAndProve, shownBy } from './proving.ts';

const errorsOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof InvalidDocumentError)) throw error;
  return error.errors;
};

/** Name servers that resolve `play.example.org` to this machine and return `records` for its Tallyport name. */
async function names(records: NonNullable<Zone['names']>[string] = {}): Promise<Zone> {
  const zone: Zone = { A: ipv4('127.0.0.1'), names: { '_tallyport.play.example.org': records } };
  useNameServers([await nameServer(zone)]);
  return zone;
}

describe('a draft', () => {
  it('is not a listed server: it is not in the list and is not probed', async () => {
    const deps = await provingDeps();
    await draftOf(deps, prover(), { port: 25_565 });
    expect(await listServers(deps)).toEqual([]);
    expect(await deps.servers.countDocuments({})).toBe(0);
  });

  it('is unique for each user, address and port, and keeps its code', async () => {
    const deps = await provingDeps();
    const [olivia, other] = [prover(), prover()];
    const [first, twin] = await Promise.all([
      draftOf(deps, olivia, { port: 25_565 }),
      draftOf(deps, olivia, { port: 25_565 }),
    ]);
    const again = await draftOf(deps, olivia, { port: 25_565, name: 'Renamed' });
    const others = await draftOf(deps, other, { port: 25_565 });
    expect(twin._id).toEqual(first._id);
    expect(again).toMatchObject({ _id: first._id, code: first.code, name: 'Renamed' });
    expect(others.code).not.toBe(first.code);
  });

  it('is one of at most ten per user, also when many are made at once', async () => {
    const deps = await provingDeps();
    const olivia = prover();
    const results = await Promise.allSettled(
      Array.from({ length: 13 }, (_, i) => draftOf(deps, olivia, { port: 1_000 + i })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(TooManyDraftsError);
    const [first] = await listDrafts(deps, olivia._id);
    expect(await discardDraft(deps, olivia._id, first?._id ?? new ObjectId())).toBe(true);
    await draftOf(deps, olivia, { port: 2_000 });
  });

  it('is accessible to its user only', async () => {
    const deps = await provingDeps();
    const [olivia, other] = [prover(), prover()];
    const draft = await draftOf(deps, olivia, { port: 25_565 });
    expect(await findDraft(deps, other._id, draft._id)).toBeNull();
    expect(await discardDraft(deps, other._id, draft._id)).toBe(false);
    expect(
      await saveDraft(deps, other._id, { name: 'Mine', address: 'a.example', port: 1_024 }, draft._id),
    ).toBeNull();
    expect(await proveDraft(deps, other, draft._id)).toEqual({ kind: 'not-found' });
  });

  it.each([22, 25, 465, 587])('is refused with the port or query port %i', async (port) => {
    const deps = await provingDeps();
    const settings = { name: 'Alpha', address: 'play.example.org', port };
    expect(Object.keys(await errorsOf(saveDraft(deps, new ObjectId(), settings)))).toEqual(['port']);
    const queried = { ...settings, port: 25_565, queryPort: port };
    expect(Object.keys(await errorsOf(saveDraft(deps, new ObjectId(), queried)))).toEqual(['queryPort']);
  });
});

describe('a server is listed as its owner’s', () => {
  it('when its message contains the code, also in capitals and between colour codes', async () => {
    const deps = await provingDeps();
    const [olivia, game] = [prover(), await gameServer()];
    const draft = await draftOf(deps, olivia, { port: game.port });
    expect(await proveDraft(deps, olivia, draft._id)).toEqual({ kind: 'not-proven' });
    const checked = await findDraft(deps, olivia._id, draft._id);
    expect(checked?.check).toMatchObject({
      reached: true,
      onlinePlayers: 3,
      maxPlayers: 20,
      dns: 'no-name',
      proof: null,
    });

    game.said.motd = `§aWelcome\n§l${draft.code.slice(0, 5)}§r${draft.code.slice(5).toUpperCase()}`;
    const proved = await proveDraft(deps, olivia, draft._id);
    expect(proved).toEqual({ kind: 'listed', serverId: draft._id });
    expect(await deps.servers.findOne({})).toMatchObject({
      _id: draft._id,
      ownerId: olivia._id,
      proof: { method: 'message' },
      name: 'Alpha Craft',
      game: 'minecraft',
      port: game.port,
      slug: 'alpha-craft',
      // What the proof has just seen, until the first probe.
      current: { onlinePlayers: 3, maxPlayers: 20, playersSource: 'probes', checkedAt: expect.any(Date) },
      probe: { status: 'online', succeededAt: expect.any(Date), urgent: true, revision: 0 },
    });
    expect(await deps.statusSamples.countDocuments()).toBe(0);
    expect(await listDrafts(deps, olivia._id)).toEqual([]);
    const entries = await deps.auditLog.find({ serverId: draft._id }).toArray();
    expect(entries).toMatchObject([{ by: olivia.email, action: 'server.add' }]);
  });

  it('when the TXT record of its name contains the code', async () => {
    const deps = await provingDeps();
    const [olivia, game, zone] = [prover(), await gameServer(), await names()];
    const draft = await draftOf(deps, olivia, { address: 'play.example.org', port: game.port });
    const check = async (records: NonNullable<Zone['names']>[string]) => {
      zone.names = { '_tallyport.play.example.org': records };
      const { kind } = await proveDraft(deps, olivia, draft._id);
      return [kind, (await findDraft(deps, olivia._id, draft._id))?.check?.dns];
    };
    expect(await check({})).toEqual(['not-proven', 'none']);
    expect(await check({ TXT: txt('tallyport-verify=tp-another') })).toEqual(['not-proven', 'wrong']);
    expect(await check({ TXT: txt(`tallyport-verify=${draft.code} `) })).toEqual(['listed', undefined]);
    expect(await deps.servers.findOne({})).toMatchObject({ proof: { method: 'dns' }, ownerId: olivia._id });
  });

  it('not while the name servers do not answer', async () => {
    const deps = await provingDeps();
    const [olivia, game] = [prover(), await gameServer()];
    await names({ TXT: 'silent' });
    const draft = await draftOf(deps, olivia, { address: 'play.example.org', port: game.port });
    expect(await proveDraft(deps, olivia, draft._id)).toEqual({ kind: 'not-proven' });
    expect((await findDraft(deps, olivia._id, draft._id))?.check?.dns).toBe('no-answer');
  });

  it('not by a TXT record alone when it has a game and does not answer; without a game the record is enough', async () => {
    const deps = await provingDeps();
    const [olivia, game, zone] = [prover(), await gameServer(), await names()];
    await game.stop();
    const draft = await draftOf(deps, olivia, { address: 'play.example.org', port: game.port });
    zone.names = { '_tallyport.play.example.org': { TXT: txt(`tallyport-verify=${draft.code}`) } };
    expect(await proveDraft(deps, olivia, draft._id)).toEqual({ kind: 'not-proven' });
    expect((await findDraft(deps, olivia._id, draft._id))?.check).toMatchObject({
      reached: false,
      words: `Nothing listens on play.example.org:${game.port}.`,
      dns: 'found',
    });
    await draftOf(deps, olivia, { address: 'play.example.org', port: game.port, game: null });
    expect(await proveDraft(deps, olivia, draft._id)).toMatchObject({ kind: 'listed' });
  });

  it('not by a message on a query port that the user chose: another server on the machine could answer there', async () => {
    const deps = await provingDeps();
    const [olivia, game] = [prover(), await gameServer()];
    const draft = await draftOf(deps, olivia, { port: 25_570, queryPort: game.port });
    expect(await shownBy(deps, olivia, draft, game)).toEqual({ kind: 'not-proven' });
    expect((await findDraft(deps, olivia._id, draft._id))?.check).toMatchObject({
      reached: true,
      messageCounts: false,
    });
  });

  it('once, when the button is pressed many times at once', async () => {
    const deps = await provingDeps();
    const [olivia, game] = [prover(), await gameServer()];
    const draft = await draftOf(deps, olivia, { port: game.port });
    game.said.motd = draft.code;
    const results = await Promise.all(Array.from({ length: 5 }, () => proveDraft(deps, olivia, draft._id)));
    for (const result of results) expect(result).toEqual({ kind: 'listed', serverId: draft._id });
    expect(await deps.servers.countDocuments({})).toBe(1);
    expect(await deps.auditLog.countDocuments({ action: 'server.add' })).toBe(1);
  });

  it('completely, when the process died after the insert and the user checks again', async () => {
    const deps = await provingDeps();
    const [olivia, game] = [prover(), await gameServer()];
    const draft = await draftOf(deps, olivia, { port: game.port });
    const failing = { insertOne: () => Promise.reject(new Error('killed')) } as never;
    await expect(shownBy({ ...deps, auditLog: failing }, olivia, draft, game)).rejects.toThrow('killed');
    expect(await deps.servers.countDocuments({})).toBe(1);

    game.said.motd = 'The code is gone again';
    expect(await proveDraft(deps, olivia, draft._id)).toEqual({ kind: 'listed', serverId: draft._id });
    expect(await deps.auditLog.countDocuments({ action: 'server.add' })).toBe(1);
    expect(await listDrafts(deps, olivia._id)).toEqual([]);
    await removeServer(deps, draft._id, olivia.email);
    expect(await proveDraft(deps, olivia, draft._id)).toEqual({ kind: 'not-found' });
  });

  it('with at most six checks per minute', async () => {
    const deps = await provingDeps();
    const [olivia, game] = [prover(), await gameServer()];
    const draft = await draftOf(deps, olivia, { port: game.port });
    for (let i = 0; i < 6; i++) await requestAndProve(deps, olivia, draft._id);
    game.said.motd = draft.code;
    expect(await requestAndProve(deps, olivia, draft._id)).toMatchObject({
      kind: 'refused',
      nextAllowedAt: expect.any(Date),
    });
    expect(game.asked).toBe(6);
    deps.clock.move(MINUTE);
    expect(await requestAndProve(deps, olivia, draft._id)).toMatchObject({ kind: 'listed' });
  });
});

describe('an address that is listed already', () => {
  it('goes to the user who proves it when the server has no owner', async () => {
    const deps = await provingDeps();
    const [olivia, game] = [prover(), await gameServer()];
    const listed = { name: 'Old name', address: '127.0.0.1', port: game.port };
    const { serverId } = await addServer(deps, listed, 'test');
    await deps.servers.updateOne({}, { $set: { ownerEmail: 'somebody@example.org' } });
    const draft = await draftOf(deps, olivia, { port: game.port });
    expect(await shownBy(deps, olivia, draft, game)).toEqual({
      kind: 'listed',
      serverId: new ObjectId(serverId),
    });
    const server = await deps.servers.findOne({});
    expect(server).toMatchObject({ ownerId: olivia._id, proof: { method: 'message' }, name: 'Old name' });
    expect(server).not.toHaveProperty('ownerEmail');
    expect(await deps.servers.countDocuments({})).toBe(1);
    expect(await deps.auditLog.findOne({ action: 'server.claim' })).toMatchObject({ by: olivia.email });
  });

  it('is proved on the query port of the listed server, not on that of the draft', async () => {
    const deps = await provingDeps();
    const [mallory, own, game] = [prover(), await gameServer(), await gameServer()];
    await addServer(
      deps,
      { name: 'Victim', address: '127.0.0.1', port: game.port, game: 'minecraft' },
      'test',
    );
    const draft = await draftOf(deps, mallory, { port: game.port, queryPort: own.port });
    expect(await shownBy(deps, mallory, draft, own)).toEqual({ kind: 'not-proven' });
    expect([own.asked, game.asked]).toEqual([0, 1]);
  });

  it('stays with its owner', async () => {
    const deps = await provingDeps();
    const [olivia, other, game] = [prover(), prover(), await gameServer()];
    const late = await draftOf(deps, other, { port: game.port });
    const draft = await draftOf(deps, olivia, { port: game.port });
    await shownBy(deps, olivia, draft, game);
    expect(await shownBy(deps, other, late, game)).toEqual({ kind: 'taken' });
    expect(await errorsOf(draftOf(deps, other, { port: game.port }))).toEqual({
      address: expect.stringContaining('ask the operator'),
    });
    expect(await errorsOf(draftOf(deps, olivia, { port: game.port }))).toEqual({
      address: 'You have listed this address and port already.',
    });
  });

  it('stays with the user to whom an operator transferred it during the proof', async () => {
    const deps = await provingDeps();
    const [olivia, other, game] = [prover(), prover(), await gameServer()];
    await addServer(deps, { name: 'Old', address: '127.0.0.1', port: game.port }, 'test');
    const draft = await draftOf(deps, olivia, { port: game.port });
    const servers: typeof deps.servers = Object.create(deps.servers, {
      findOneAndUpdate: {
        value: async (...args: [never, never, never]) => {
          await deps.servers.updateOne({}, { $set: { ownerId: other._id } });
          return deps.servers.findOneAndUpdate(...args);
        },
      },
    });
    expect(await shownBy({ ...deps, servers }, olivia, draft, game)).toEqual({ kind: 'taken' });
    expect(await deps.servers.findOne({})).toMatchObject({ ownerId: other._id });
  });

  it('goes to one user when several prove it at the same time', async () => {
    const deps = await provingDeps();
    const game: JavaServer = await gameServer();
    const users = [prover(), prover(), prover()];
    const drafts = await Promise.all(users.map((who) => draftOf(deps, who, { port: game.port })));
    game.said.motd = drafts.map(({ code }) => code).join(' ');
    const results = await Promise.all(
      users.map((who, i) => proveDraft(deps, who, drafts[i]?._id ?? new ObjectId())),
    );
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['listed', 'taken', 'taken']);
    expect(await deps.servers.countDocuments({})).toBe(1);
  });
});

it('a transfer gives a server to another user and is in the audit log', async () => {
  const deps = await provingDeps();
  const to = prover();
  const { serverId } = await addServer(deps, { name: 'A', address: 'a.example', port: 1_024 }, 'test');
  const id = new ObjectId(serverId);
  expect(await transferServer(deps, id, to, 'oscar@example.org')).toMatchObject({
    server: { ownerId: to._id, proof: { method: 'operator' } },
    revokedTokens: 0,
  });
  expect(await deps.auditLog.findOne({ action: 'server.transfer' })).toMatchObject({
    by: 'oscar@example.org',
    serverId: id,
    details: { to: to.email },
  });
  await removeServer(deps, id, 'test');
  expect(await transferServer(deps, id, to, 'test')).toBeNull();
});
