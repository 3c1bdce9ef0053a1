import { ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { writeSampleProfile } from '../../src/demo/list-samples.ts';
import { sampleIcon } from '../../src/demo/sample-pictures.ts';
import { SAMPLES } from '../../src/demo/samples.ts';
import { encodeIcon } from '../../src/platform/pictures/encode-picture.ts';
import { addServer } from '../../src/servers/listed-servers.ts';
import { testDeps } from '../support/test-deps.ts';

test('sample servers get valid texts, tags and banners, once', async () => {
  const deps = await testDeps();
  const write = async () => {
    for (const [index, sample] of SAMPLES.entries()) {
      const { name } = sample;
      const known = await deps.servers.findOne({ name });
      const settings = { name, address: 'play.example.org', port: 25_565 + index };
      const id = known?._id ?? new ObjectId((await addServer(deps, settings, 'demo')).serverId);
      await writeSampleProfile(deps, id, sample, 'demo');
    }
  };
  await write();
  const written = await deps.servers.find({ 'profile.shortText': { $exists: true } }).toArray();
  expect(written.length).toBeGreaterThan(20);
  for (const { profile } of written)
    expect(profile).toMatchObject({ tags: expect.anything(), languages: expect.anything() });
  const banners = await deps.servers.countDocuments({
    'profile.bannerUpload': { $exists: true },
  });
  expect(banners).toBe(10);
  const changes = await deps.auditLog.countDocuments();
  await write();
  expect(await deps.auditLog.countDocuments()).toBe(changes);
  expect(await deps.pictureUploads.countDocuments()).toBe(banners);
});

test('a sample’s icon is one that Minecraft servers may send', async () => {
  const [, base64 = ''] = (await sampleIcon('Harbour Lights')).split(',');
  await expect(encodeIcon(Buffer.from(base64, 'base64'))).resolves.toMatchObject({ width: 64, height: 64 });
});
