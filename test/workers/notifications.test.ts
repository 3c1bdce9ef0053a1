import { ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { setWebhook } from '../../src/notifications/discord/webhooks.ts';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { writeReview } from '../../src/reviews/write-review.ts';
import { QUICK } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startFakeDiscord } from '../support/fake-discord.ts';
import { startMailServer } from '../support/fake-mail-server.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { testDeps } from '../support/test-deps.ts';
import { startScheduler, startWorker } from '../support/workers.ts';

test('an approved review reaches its owner’s mailbox and Discord channel through the scheduler and a worker', async () => {
  const [discord, mail] = [await startFakeDiscord(), await startMailServer()];
  const deps = await testDeps({
    ...QUICK,
    DISCORD_API_URL: discord.url,
    SMTP_URL: mail.url,
    MAIL_FROM: 'Tallyport <votes@example.org>',
  });
  const owner = await signIn({ deps });
  const serverId = await addOwnedServer(deps, owner.userId);
  await setWebhook(deps, serverId, discord.address, 'test');
  const { reviewId } = await writeReview(deps, { serverId, username: 'Steve', rating: 5 });
  await moderateReview(deps, new ObjectId(reviewId), 'approved', 'test');
  await startWorker(deps.config);
  await startScheduler(deps.config);
  await vi.waitFor(() => {
    expect(discord.messages.map(({ embeds }) => embeds?.[0]?.title)).toEqual([
      'Alpha Craft\\: a new review\\, 5 of 5 stars',
    ]);
    expect(mail.received).toMatchObject([
      { to: owner.email, subject: 'Alpha Craft: a new review, 5 of 5 stars' },
    ]);
  }, EVENTUALLY);
});
