import { ObjectId } from 'mongodb';
import { expect, test, vi } from 'vitest';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { writeReview } from '../../src/reviews/write-review.ts';
import { subscribe } from '../events/source-bench.ts';
import { QUICK } from '../support/delivering.ts';
import { EVENTUALLY } from '../support/eventually.ts';
import { startMailServer } from '../support/fake-mail-server.ts';
import { addOwnedServer } from '../support/owned-server.ts';
import { signIn } from '../support/sign-in.ts';
import { testDeps } from '../support/test-deps.ts';
import { storedVote } from '../support/votes.ts';
import { startScheduler, startWorker } from '../support/workers.ts';

test('an approved review reaches its owner’s mailbox, and it and a vote become events, through the scheduler and a worker', async () => {
  const mail = await startMailServer();
  const deps = await testDeps({ ...QUICK, SMTP_URL: mail.url, MAIL_FROM: 'Tallyport <votes@example.org>' });
  const owner = await signIn({ deps });
  const serverId = await addOwnedServer(deps, owner.userId);
  await subscribe(deps, serverId, ['review.published', 'vote.counted']);
  const { reviewId } = await writeReview(deps, { serverId, username: 'Steve', rating: 5 });
  await moderateReview(deps, new ObjectId(reviewId), 'approved', 'test');
  await deps.votes.insertOne(storedVote(serverId, 'Steve', new Date()));
  await startWorker(deps.config);
  await startScheduler(deps.config);
  await vi.waitFor(async () => {
    const types = await deps.events.distinct('type', { serverId });
    expect(types.toSorted()).toEqual(['review.published', 'vote.counted']);
    expect(mail.received).toMatchObject([
      { to: owner.email, subject: 'Alpha Craft: a new review, 5 of 5 stars' },
    ]);
  }, EVENTUALLY);
});
