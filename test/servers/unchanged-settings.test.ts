import { ObjectId, type WithId } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { setProfile } from '../../src/servers/edit-profile.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import type { Server } from '../../src/servers/server.ts';
import {
  requireProvenId,
  setHowToVote,
  setPlayerNames,
  switchVoteForm,
} from '../../src/servers/vote-options.ts';
import { testDeps } from '../support/test-deps.ts';

let deps: AppDeps;

beforeAll(async () => {
  deps = await testDeps();
});

async function listed(): Promise<WithId<Server>> {
  const address = `s${new ObjectId().toHexString()}.example.org`;
  const added = await addServer(deps, { name: 'Alpha', address, port: 25_565 }, 'test');
  const server = await deps.servers.findOne({ _id: new ObjectId(added.serverId) });
  if (!server) throw new Error('no server');
  return server;
}

const PROFILE = {
  shortText: 'Ahoy',
  description: '',
  tags: [],
  languages: '',
  website: '',
  discord: '',
  store: '',
  rules: '',
  video: '',
};

const CHANGES: [string, (server: WithId<Server>) => Promise<void>][] = [
  ['server.web-votes', ({ _id }) => switchVoteForm(deps, _id, false, 'test')],
  ['server.how-to-vote', ({ _id }) => setHowToVote(deps, _id, 'Type /vote.', 'test')],
  ['server.bedrock-prefix', ({ _id }) => setPlayerNames(deps, _id, { bedrockPrefix: '*' }, 'test')],
  ['server.proven-id-only', ({ _id }) => requireProvenId(deps, _id, true, 'test')],
];

const audited = (action: string, serverId: ObjectId) => deps.auditLog.countDocuments({ action, serverId });

test.each(CHANGES)('%s is in the audit log once if the same value is set twice', async (action, change) => {
  const server = await listed();
  await change(server);
  await change(server);
  expect(await audited(action, server._id)).toBe(1);
});

test.each([
  ...CHANGES,
  ['server.profile', (server: WithId<Server>) => setProfile(deps, server, PROFILE, 'test')] as const,
])('%s is not in the audit log if the server was removed meanwhile', async (action, change) => {
  const server = await listed();
  await deps.servers.updateOne({ _id: server._id }, { $set: { removedAt: new Date() } });
  await change(server);
  expect(await audited(action, server._id)).toBe(0);
});
