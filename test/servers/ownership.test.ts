import { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { isProvenOwner } from '../../src/servers/ownership.ts';

it('only the owner of a server is its proven owner; a server without an owner has none', () => {
  const owner = new ObjectId();
  expect(isProvenOwner({ ownerId: owner }, new ObjectId(owner.toHexString()))).toBe(true);
  expect(isProvenOwner({ ownerId: owner }, new ObjectId())).toBe(false);
  expect(isProvenOwner({}, owner)).toBe(false);
});
