import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { addOwnedServer } from '../support/owned-server.ts';
import { startMongod } from '../support/services.ts';
import { signIn } from '../support/sign-in.ts';
import { getPage, openWebApp, sendForm, textOf } from '../support/web-app.ts';

// A mongod of its own: connections of an earlier version count for all databases on it.
test('while processes of 0.1.0 run, operators see from where, and an owner cannot choose to fetch', async () => {
  const mongod = await startMongod();
  onTestFinished(() => mongod.stop());
  const uri = `${mongod.uri.replace(/\/$/, '')}/fetching`;
  const web = await openWebApp({ MONGODB_URI: uri });
  const olivia = await signIn(web);
  const serverId = await addOwnedServer(web.deps, olivia.userId);
  const earlier = await new MongoClient(uri, { appName: 'tallyport' }).connect();
  await earlier.db().command({ ping: 1 });
  const fields = { protocol: 'fetch', serviceName: 'My Votes', maxSendings: '2' };
  const path = `/dashboard/servers/${serverId.toHexString()}/listener`;
  const refused = await sendForm(web, path, fields, olivia.headers);
  const operator = await signIn(web, { role: 'operator' });
  const system = textOf((await getPage(web, '/operator/system', operator.headers)).body);
  await earlier.close();
  expect(system).toMatch(
    /Processes of version 0\.1\.0, which record nothing, are connected from 127\.0\.0\.1/,
  );
  expect(refused.statusCode).toBe(409);
  expect(textOf(refused.body)).toContain(
    'Nothing was saved: a part of this listing still runs an earlier version',
  );
  expect(refused.body).not.toContain('127.0.0.1');
  // What was entered stays.
  expect(refused.body).toContain('value="My Votes"');
  expect(await web.deps.listeners.countDocuments({ serverId })).toBe(0);
  expect((await sendForm(web, path, fields, olivia.headers)).statusCode).toBe(303);
});
