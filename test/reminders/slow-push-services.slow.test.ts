import { expect, test } from 'vitest';
import { startFakePushService } from '../support/fake-push-service.ts';
import { messagesTo, reminderBench } from './reminded.ts';

test('push services that never answer, or never end their answer, hold up neither the run nor the others', async () => {
  const [silent, endless, good] = [
    await startFakePushService(),
    await startFakePushService(),
    await startFakePushService(),
  ];
  const bench = await reminderBench();
  const vote = await bench.vote(0, 'Steve');
  const subscriptions = [silent, endless].map((service) => [service.subscribe(), service.subscribe()]);
  for (const subscription of subscriptions.flat()) await bench.keep(subscription, [vote]);
  const other = good.subscribe();
  await bench.keep(other, [vote]);
  silent.answer = () => undefined;
  endless.answer = (response) => {
    response.writeHead(201);
    const timer = setInterval(() => response.write('x'.repeat(1_000)), 20);
    response.on('close', () => clearInterval(timer));
  };
  bench.nextDay();
  const began = performance.now();
  const ends = await bench.send();
  expect(performance.now() - began).toBeLessThan(15_000);
  expect(ends.toSorted()).toEqual(['retry', 'retry', 'sent', 'sent', 'sent']);
  expect(messagesTo(good, other)).toHaveLength(1);
});
