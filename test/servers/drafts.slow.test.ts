import { ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { proveDraft } from '../../src/listing/prove-draft.ts';
import { removeServer } from '../../src/listing/remove-server.ts';
import { transferServer } from '../../src/listing/transfer-server.ts';
import { MINUTE } from '../../src/platform/clock.ts';
import { InvalidDocumentError } from '../../src/platform/document.ts';
import {
  discardDraft,
  findDraft,
  listDrafts,
  saveDraft,
  TooManyDraftsError,
} from '../../src/servers/drafts.ts';
import { addServer, listServers } from '../../src/servers/listing.ts';
import type { JavaServer } from '../support/fake-game-servers.ts';
import { ipv4, nameServer, txt, useNameServers, type Zone } from '../support/fake-name-server.ts';
import { draftOf, gameServer, prover, provingPlatform, shownBy } from './proving.ts';

const errorsOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof InvalidDocumentError)) throw error;
  return error.errors;
};

/** The name servers know `play.example.org` to be this machine, and what `_tallyport.play.example.org` says. */
async function names(records: NonNullable<Zone['names']>[string] = {}): Promise<Zone> {
  const zone: Zone = { A: ipv4('127.0.0.1'), names: { '_tallyport.play.example.org': records } };
  useNameServers([await nameServer(zone)]);
  return zone;
}

describe('a draft', () => {
  it('is no listed server: neither the list nor the probes know of it', async () => {
    const deps = await provingPlatform();
    await draftOf(deps, prover(), { port: 25_565 });
    expect(await listServers(deps)).toEqual([]);
    expect(await deps.servers.countDocuments({})).toBe(0);
  });

  it('of one address and port is one for each user, whose code stays', async () => {
    const deps = await provingPlatform();
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

  it('is the tenth at most, however many are made at once', async () => {
    const deps = await provingPlatform();
    const olivia = prover();
    const ends = await Promise.allSettled(
      Array.from({ length: 13 }, (_, i) => draftOf(deps, olivia, { port: 1_000 + i })),
    );
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    for (const end of ends)
      if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(TooManyDraftsError);
    const [first] = await listDrafts(deps, olivia._id);
    expect(await discardDraft(deps, olivia._id, first?._id ?? new ObjectId())).toBe(true);
    await draftOf(deps, olivia, { port: 2_000 });
  });

  it('belongs to its user alone', async () => {
    const deps = await provingPlatform();
    const [olivia, other] = [prover(), prover()];
    const draft = await draftOf(deps, olivia, { port: 25_565 });
    expect(await findDraft(deps, other._id, draft._id)).toBeNull();
    expect(await discardDraft(deps, other._id, draft._id)).toBe(false);
    expect(
      await saveDraft(deps, other._id, { name: 'Mine', address: 'a.example', port: 1_024 }, draft._id),
    ).toBeNull();
    expect(await proveDraft(deps, other, draft._id)).toEqual({ kind: 'not-found' });
  });

  it.each([22, 25, 465, 587])('is never of port %i, nor asked there', async (port) => {
    const deps = await provingPlatform();
    const said = { name: 'Alpha', address: 'play.example.org', port };
    expect(Object.keys(await errorsOf(saveDraft(deps, new ObjectId(), said)))).toEqual(['port']);
    const queried = { ...said, port: 25_565, queryPort: port };
    expect(Object.keys(await errorsOf(saveDraft(deps, new ObjectId(), queried)))).toEqual(['queryPort']);
  });
});

describe('a server is listed as its owner’s', () => {
  it('when its message shows the code, in capitals and between colours too', async () => {
    const deps = await provingPlatform();
    const [olivia, game] = [prover(), await gameServer()];
    const draft = await draftOf(deps, olivia, { port: game.port });
    expect(await proveDraft(deps, olivia, draft._id)).toEqual({ kind: 'not-proven' });
    const seen = await findDraft(deps, olivia._id, draft._id);
    expect(seen?.check).toMatchObject({
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
    });
    expect(await listDrafts(deps, olivia._id)).toEqual([]);
    const entries = await deps.auditLog.find({ serverId: draft._id }).toArray();
    expect(entries).toMatchObject([{ by: olivia.email, action: 'server.add' }]);
  });

  it('when the TXT record of its name holds the code', async () => {
    const deps = await provingPlatform();
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

  it('not while name servers keep silent', async () => {
    const deps = await provingPlatform();
    const [olivia, game] = [prover(), await gameServer()];
    await names({ TXT: 'silent' });
    const draft = await draftOf(deps, olivia, { address: 'play.example.org', port: game.port });
    expect(await proveDraft(deps, olivia, draft._id)).toEqual({ kind: 'not-proven' });
    expect((await findDraft(deps, olivia._id, draft._id))?.check?.dns).toBe('no-answer');
  });

  it('not by a record alone where it could be asked and does not answer; without a game it is', async () => {
    const deps = await provingPlatform();
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

  it('not by a message behind a query port of its own choice: a neighbour on the machine could answer there', async () => {
    const deps = await provingPlatform();
    const [olivia, game] = [prover(), await gameServer()];
    const draft = await draftOf(deps, olivia, { port: 25_570, queryPort: game.port });
    expect(await shownBy(deps, olivia, draft, game)).toEqual({ kind: 'not-proven' });
    expect((await findDraft(deps, olivia._id, draft._id))?.check).toMatchObject({
      reached: true,
      messageCounts: false,
    });
  });

  it('once, when the button is pressed many times at once', async () => {
    const deps = await provingPlatform();
    const [olivia, game] = [prover(), await gameServer()];
    const draft = await draftOf(deps, olivia, { port: game.port });
    game.said.motd = draft.code;
    const ends = await Promise.all(Array.from({ length: 5 }, () => proveDraft(deps, olivia, draft._id)));
    for (const end of ends) expect(end).toEqual({ kind: 'listed', serverId: draft._id });
    expect(await deps.servers.countDocuments({})).toBe(1);
    expect(await deps.auditLog.countDocuments({ action: 'server.add' })).toBe(1);
  });

  it('whole, when the process died between the listing and the rest', async () => {
    const deps = await provingPlatform();
    const [olivia, game] = [prover(), await gameServer()];
    const draft = await draftOf(deps, olivia, { port: game.port });
    const died = { insertOne: () => Promise.reject(new Error('killed')) } as never;
    await expect(shownBy({ ...deps, auditLog: died }, olivia, draft, game)).rejects.toThrow('killed');
    expect(await deps.servers.countDocuments({})).toBe(1);

    game.said.motd = 'The code is gone again';
    expect(await proveDraft(deps, olivia, draft._id)).toEqual({ kind: 'listed', serverId: draft._id });
    expect(await deps.auditLog.countDocuments({ action: 'server.add' })).toBe(1);
    expect(await listDrafts(deps, olivia._id)).toEqual([]);
    await removeServer(deps, draft._id, olivia.email);
    expect(await proveDraft(deps, olivia, draft._id)).toEqual({ kind: 'not-found' });
  });

  it('after six checks a minute at most', async () => {
    const deps = await provingPlatform();
    const [olivia, game] = [prover(), await gameServer()];
    const draft = await draftOf(deps, olivia, { port: game.port });
    for (let i = 0; i < 6; i++) await proveDraft(deps, olivia, draft._id);
    expect(await shownBy(deps, olivia, draft, game)).toMatchObject({
      kind: 'refused',
      nextAllowedAt: expect.any(Date),
    });
    expect(game.asked).toBe(6);
    deps.clock.move(MINUTE);
    expect(await proveDraft(deps, olivia, draft._id)).toMatchObject({ kind: 'listed' });
  });
});

describe('a place that is listed already', () => {
  it('is given to whoever proves it, when it belongs to nobody', async () => {
    const deps = await provingPlatform();
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

  it('is proved where the listing says it is asked, not where the prover says', async () => {
    const deps = await provingPlatform();
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

  it('stays its owner’s', async () => {
    const deps = await provingPlatform();
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

  it('stays with whom an operator gave it to in the same moment', async () => {
    const deps = await provingPlatform();
    const [olivia, other, game] = [prover(), prover(), await gameServer()];
    await addServer(deps, { name: 'Old', address: '127.0.0.1', port: game.port }, 'test');
    const draft = await draftOf(deps, olivia, { port: game.port });
    const servers: typeof deps.servers = Object.create(deps.servers, {
      findOneAndUpdate: {
        value: async (...asked: [never, never, never]) => {
          await deps.servers.updateOne({}, { $set: { ownerId: other._id } });
          return deps.servers.findOneAndUpdate(...asked);
        },
      },
    });
    expect(await shownBy({ ...deps, servers }, olivia, draft, game)).toEqual({ kind: 'taken' });
    expect(await deps.servers.findOne({})).toMatchObject({ ownerId: other._id });
  });

  it('goes to one of two who prove it at the same moment', async () => {
    const deps = await provingPlatform();
    const game: JavaServer = await gameServer();
    const users = [prover(), prover(), prover()];
    const drafts = await Promise.all(users.map((who) => draftOf(deps, who, { port: game.port })));
    game.said.motd = drafts.map(({ code }) => code).join(' ');
    const ends = await Promise.all(
      users.map((who, i) => proveDraft(deps, who, drafts[i]?._id ?? new ObjectId())),
    );
    expect(ends.map(({ kind }) => kind).toSorted()).toEqual(['listed', 'taken', 'taken']);
    expect(await deps.servers.countDocuments({})).toBe(1);
  });
});

it('a transfer gives a server to another user, and is on record', async () => {
  const deps = await provingPlatform();
  const to = prover();
  const { serverId } = await addServer(deps, { name: 'A', address: 'a.example', port: 1_024 }, 'test');
  const id = new ObjectId(serverId);
  expect(await transferServer(deps, id, to, 'oscar@example.org')).toMatchObject({
    ownerId: to._id,
    proof: { method: 'operator' },
  });
  expect(await deps.auditLog.findOne({ action: 'server.transfer' })).toMatchObject({
    by: 'oscar@example.org',
    serverId: id,
    details: { to: to.email },
  });
  await removeServer(deps, id, 'test');
  expect(await transferServer(deps, id, to, 'test')).toBeNull();
});
