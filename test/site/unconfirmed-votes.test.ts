import { expect, test } from 'vitest';
import { keyLine, RIGHT, start, TOKEN, votifier19, votifierPlus } from '../delivery/known-listeners.ts';
import { type OwnerBench, ownerBench } from './owner-bench.ts';

/** An owner whose listener has used up a vote with a wrong token. */
async function usedUp(): Promise<OwnerBench & { port: string }> {
  const bench = await ownerBench();
  const port = await start(votifierPlus());
  await bench.set({ port, secret: 'an0ther-t0ken-0123456789', maxSendings: 1 });
  await bench.cast('Steve');
  await bench.drain();
  return { ...bench, port: String(port) };
}

const V2 = { protocol: 'votifier-v2', host: '127.0.0.1', serviceName: 'Tallyport' };

test('the listener’s page counts unconfirmed votes, says why votes are held, and leads to sending them again', async () => {
  const bench = await usedUp();
  const page = await bench.read('/listener');
  expect(page).toContain('Paused because of a fault');
  expect(page).toContain('The listener has taken no vote with its present settings');
  expect(page).toContain('Unconfirmed 1: sent, and never confirmed.');
  expect((await bench.get('/listener')).body).toContain('/votes/resend?state=unconfirmed"');
  expect(await bench.read('/votes/resend?state=unconfirmed')).toContain('1 vote is put in the line again');
  expect(page).toContain('a vote is sent 1 time at most');
});

test('a mended token sends them again', async () => {
  const bench = await usedUp();
  const saved = await bench.post('/listener', { ...V2, port: bench.port, secret: TOKEN, maxSendings: '2' });
  expect(saved.headers.location).toMatch(/\?done=set-and-resent$/);
  expect(await bench.read('/listener?done=set-and-resent')).toContain('so are the unconfirmed votes');
  await bench.drain();
  expect(await bench.platform.votes.countDocuments({ 'delivery.state': 'delivered' })).toBe(1);
  expect(await bench.platform.listeners.findOne({})).toMatchObject({ maxSendings: 2 });
});

test('unless the owner leaves them as they are', async () => {
  const bench = await usedUp();
  expect(await bench.read('/listener?protocol=votifier-v2')).toContain('Do not send unconfirmed votes again');
  const form = { ...V2, port: bench.port, secret: TOKEN, keepUnconfirmed: 'yes' };
  expect((await bench.post('/listener', form)).headers.location).toMatch(/\?done=set$/);
  expect(await bench.platform.votes.countDocuments({ 'delivery.state': 'unconfirmed' })).toBe(1);
  // Left out of the form, it stays as it was.
  expect(await bench.platform.listeners.findOne({})).toMatchObject({ maxSendings: 1 });
});

test('a number of sendings that there is not is refused beside its field', async () => {
  const bench = await usedUp();
  const refused = await bench.post('/listener', { ...V2, port: bench.port, secret: TOKEN, maxSendings: '4' });
  expect(refused.statusCode).toBe(400);
  expect(refused.body).toContain('1 to 3 times');
});

test('a v1 vote that nobody confirmed is not called delivered on any page', async () => {
  const bench = await ownerBench();
  await bench.set({ protocol: 'votifier-v1', port: await start(votifier19()), secret: keyLine(RIGHT) });
  const vote = await bench.cast('Steve');
  await bench.drain();
  expect(await bench.read('/votes')).toContain('sent, not confirmed');
  expect(await bench.read(`/votes/${vote._id.toString()}`)).toMatch(/Sent on .*, and not confirmed/);
  expect(await bench.read('/listener')).toMatch(/Last delivered .*, not confirmed/);
  const tested = (await bench.post('/listener/test')).body;
  expect(tested).toContain('The test vote was sent, and cannot be confirmed');
});

test('a v1 vote that the listener confirmed is', async () => {
  const bench = await ownerBench();
  await bench.set({ protocol: 'votifier-v1', port: await start(votifierPlus()), secret: keyLine(RIGHT) });
  await bench.cast('Steve');
  await bench.drain();
  expect(await bench.read('/votes')).not.toContain('not confirmed');
  expect((await bench.post('/listener/test')).body).toContain('The test vote arrived');
});
