import { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { roleOf } from '../../src/servers/ownership.ts';

it('a user is the owner, a member with a role, or a stranger', () => {
  const [owner, reader, full] = [new ObjectId(), new ObjectId(), new ObjectId()];
  const member = (userId: ObjectId, role: 'full' | 'read') => ({ userId, role, at: new Date() });
  const server = { ownerId: owner, members: [member(reader, 'read'), member(full, 'full')] };
  expect(roleOf(server, new ObjectId(owner.toHexString()))).toBe('owner');
  expect([reader, full, new ObjectId()].map((id) => roleOf(server, id))).toEqual(['read', 'full', null]);
  expect(roleOf({}, owner)).toBeNull();
});
