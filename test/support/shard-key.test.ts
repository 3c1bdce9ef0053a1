import { expect, it } from 'vitest';
import { requireShardKey } from './shard-key.ts';

const stackOf = (file: string) =>
  `Error\n    at NativeCollection.find (/app/node_modules/mongoose/x.js:1:1)\n    at call (/app/${file}:1:1)`;
const write = stackOf('src/votes/cast/cast-vote.ts');

it('refuses a write of votes that does not name their server', () => {
  const named = { serverId: 'x', username: 'Steve' };
  const unnamed = { username: 'Steve' };
  const bulk = (filter: object) => [{ updateOne: { filter: named } }, { updateMany: { filter } }];
  for (const [operation, first, stack] of [
    ['updateOne', unnamed, write],
    ['findOneAndUpdate', { _id: 1 }, write],
    ['deleteMany', undefined, write],
    ['bulkWrite', bulk(unnamed), write],
  ] as const)
    expect(() => requireShardKey('votes', operation, first, stack), operation).toThrow(/does not name/);
  for (const [operation, first, stack] of [
    ['updateOne', named, write],
    ['bulkWrite', bulk(named), write],
    ['find', unnamed, write],
    ['insertOne', unnamed, write],
    ['updateMany', unnamed, stackOf('test/votes/votes.test.ts')],
  ] as const)
    expect(() => requireShardKey('votes', operation, first, stack), operation).not.toThrow();
  expect(() => requireShardKey('servers', 'updateOne', unnamed, write)).not.toThrow();
});
