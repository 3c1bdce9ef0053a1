import { ObjectId } from 'mongodb';
import { expect, it } from 'vitest';
import { isProvenOwner } from '../../src/servers/ownership.ts';

it('a server is proven to be its owner’s, and nobody’s else; one without an owner is nobody’s', () => {
  const owner = new ObjectId();
  expect(isProvenOwner({ ownerId: owner }, new ObjectId(owner.toHexString()))).toBe(true);
  expect(isProvenOwner({ ownerId: owner }, new ObjectId())).toBe(false);
  expect(isProvenOwner({}, owner)).toBe(false);
});
