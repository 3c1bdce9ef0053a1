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
import { testPlatform } from '../support/test-platform.ts';
import { startScheduler, startWorker } from '../support/workers.ts';

test('the scheduler and a worker bring an approved review to its owner’s mailbox and Discord channel', async () => {
  const [discord, mail] = [await startFakeDiscord(), await startMailServer()];
  const platform = await testPlatform({
    ...QUICK,
    DISCORD_API_URL: discord.url,
    SMTP_URL: mail.url,
    MAIL_FROM: 'Tallyport <votes@example.org>',
  });
  const owner = await signIn({ platform });
  const serverId = await addOwnedServer(platform, owner.userId);
  await setWebhook(platform, serverId, discord.address, 'test');
  const { reviewId } = await writeReview(platform, { serverId, username: 'Steve', rating: 5 });
  await moderateReview(platform, new ObjectId(reviewId), 'approved', 'test');
  await startWorker(platform.config);
  await startScheduler(platform.config);
  await vi.waitFor(() => {
    expect(discord.messages.map(({ embeds }) => embeds?.[0]?.title)).toEqual([
      'Alpha Craft\\: a new review\\, 5 of 5 stars',
    ]);
    expect(mail.received).toMatchObject([
      { to: owner.email, subject: 'Alpha Craft: a new review, 5 of 5 stars' },
    ]);
  }, EVENTUALLY);
});
