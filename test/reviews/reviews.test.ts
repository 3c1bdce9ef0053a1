import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { after as later } from '../../src/platform/clock.ts';
import { InvalidDocumentError } from '../../src/platform/document.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { moderateReview, moderateReviews } from '../../src/reviews/moderate-review.ts';
import { listReviews, readReviews } from '../../src/reviews/read-reviews.ts';
import { writeReview } from '../../src/reviews/write-review.ts';
import { testDeps } from '../support/test-deps.ts';

let deps: AppDeps;
let now = new Date('2026-11-21T08:00:00.000Z');

beforeAll(async () => {
  const opened = await testDeps();
  deps = { ...opened, clock: { now: () => now } };
});

async function write(serverId: ObjectId, rating: number, content?: string): Promise<ObjectId> {
  now = later(now, 1_000);
  const review = { serverId, username: `player ${rating}`, rating, ...(content ? { content } : {}) };
  return new ObjectId((await writeReview(deps, review)).reviewId);
}

/** What the list must be: the approved reviews, newest first, and their figures. */
async function expectListToFollowStates(serverId: ObjectId): Promise<void> {
  const approved = await deps.reviews
    .find({ serverId, state: 'approved' })
    .sort({ createdAt: -1, _id: -1 })
    .toArray();
  const list = await deps.reviewLists.findOne({ _id: serverId });

  expect(list?.entries ?? []).toEqual(
    approved.map(({ _id, createdAt, rating }) => ({ id: _id, at: createdAt, rating })),
  );
  expect(list?.count ?? 0).toBe(approved.length);
  expect(list?.ratingSum ?? 0).toBe(approved.reduce((sum, review) => sum + review.rating, 0));
}

describe('writing a review', () => {
  it('stores it pending, and nobody sees it', async () => {
    const serverId = new ObjectId();
    const id = await write(serverId, 4, '  Nice.\nReally. ');

    expect(await deps.reviews.findOne({ _id: id })).toMatchObject({
      username: 'player 4',
      rating: 4,
      content: 'Nice.\nReally.',
      state: 'pending',
      createdAt: now,
      moderatedAt: null,
    });
    expect(await readReviews(deps, serverId, { page: 1, limit: 10 })).toEqual({
      reviewCount: 0,
      averageRating: 0,
      reviews: [],
      total: 0,
      totalPages: 0,
    });
  });

  it.each([
    [{ rating: 0 }, 'rating'],
    [{ rating: 6 }, 'rating'],
    [{ rating: 4.5 }, 'rating'],
    [{ rating: Number.NaN }, 'rating'],
    [{ username: ' ' }, 'username'],
    [{ username: 'a\nb' }, 'username'],
    [{ username: 'x'.repeat(51) }, 'username'],
    [{ content: 'x'.repeat(2_001) }, 'content'],
    [{ content: '\ud800' }, 'content'],
    [{ content: 'a\u001b[2Jb' }, 'content'],
  ])('refuses %j', async (fields, field) => {
    const review = { serverId: new ObjectId(), username: 'Steve', rating: 5, ...fields };
    const error = await writeReview(deps, review).catch((cause: unknown) => cause);

    expect(error).toBeInstanceOf(InvalidDocumentError);
    expect(Object.keys((error as InvalidDocumentError).errors)).toEqual([field]);
  });

  it('takes 2,000 characters outside the basic plane', async () => {
    const id = await write(new ObjectId(), 5, '😀'.repeat(2_000));

    expect((await deps.reviews.findOne({ _id: id }))?.content).toHaveLength(4_000);
  });
});

describe('moderating reviews', () => {
  it('shows approved ones newest first, whatever the order of approval', async () => {
    const serverId = new ObjectId();
    const ids = [await write(serverId, 1), await write(serverId, 2, 'two'), await write(serverId, 5)];
    for (const index of [1, 2, 0]) await moderateReview(deps, ids[index] as ObjectId, 'approved', 'test');

    const page = await readReviews(deps, serverId, { page: 1, limit: 10 });
    expect(page.reviews.map(({ rating }) => rating)).toEqual([5, 2, 1]);
    expect(page.reviews[1]).toEqual({
      username: 'player 2',
      rating: 2,
      content: 'two',
      createdAt: later(now, -1_000),
    });
    expect(page.reviews[0]).not.toHaveProperty('content');
    expect(page).toMatchObject({ reviewCount: 3, averageRating: 2.67, total: 3, totalPages: 1 });
    await expectListToFollowStates(serverId);
  });

  it('changes nothing the second time', async () => {
    const serverId = new ObjectId();
    const id = await write(serverId, 3);
    const first = await moderateReview(deps, id, 'approved', 'test');
    now = later(now, 1_000);
    const second = await moderateReview(deps, id, 'approved', 'test');

    expect(second).toEqual(first);
    expect(first).toMatchObject({ state: 'approved' });
    await expectListToFollowStates(serverId);
  });

  it('takes a rejected review away again', async () => {
    const serverId = new ObjectId();
    const ids = [await write(serverId, 2), await write(serverId, 4)];
    for (const id of ids) await moderateReview(deps, id, 'approved', 'test');
    expect(await moderateReview(deps, ids[1] as ObjectId, 'rejected', 'test')).toMatchObject({
      state: 'rejected',
    });

    expect(await readReviews(deps, serverId, { page: 1, limit: 10 })).toMatchObject({
      reviewCount: 1,
      averageRating: 2,
    });
    await expectListToFollowStates(serverId);
  });

  it('rejects a review of a server without a list', async () => {
    const serverId = new ObjectId();
    await moderateReview(deps, await write(serverId, 2), 'rejected', 'test');

    expect(await deps.reviewLists.findOne({ _id: serverId })).toBeNull();
  });

  it('knows no review that is not there', async () => {
    expect(await moderateReview(deps, new ObjectId(), 'approved', 'test')).toBeNull();
  });

  it('is written to the audit log', async () => {
    const serverId = new ObjectId();
    const id = await write(serverId, 2);
    await moderateReview(deps, id, 'rejected', 'someone');

    expect(await deps.auditLog.findOne({ serverId })).toMatchObject({
      by: 'someone',
      action: 'review.rejected',
      details: { reviewId: id.toHexString() },
    });
  });

  it('completes what a crash between the two writes cut short', async () => {
    const serverId = new ObjectId();
    const [approved, rejected] = [await write(serverId, 5), await write(serverId, 1)];
    await moderateReview(deps, rejected, 'approved', 'test');
    // As a process leaves it that dies after the first write.
    await deps.reviews.updateOne({ _id: approved }, { $set: { state: 'approved' } });
    await deps.reviews.updateOne({ _id: rejected }, { $set: { state: 'rejected' } });

    const page = await readReviews(deps, serverId, { page: 1, limit: 10 });
    expect(page.reviews).toEqual([]);

    await moderateReview(deps, approved, 'approved', 'test');
    await moderateReview(deps, rejected, 'rejected', 'test');
    await expectListToFollowStates(serverId);
    expect((await deps.reviewLists.findOne({ _id: serverId }))?.count).toBe(1);
  });

  it('ends with a list that agrees with the states, however many decisions race', async () => {
    const serverId = new ObjectId();
    const ids: ObjectId[] = [];
    for (let index = 0; index < 10; index++) ids.push(await write(serverId, 1 + (index % 5)));
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        ids.flatMap((id) =>
          (['approved', 'rejected', 'approved'] as const).map((state) =>
            moderateReview(deps, id, state, 'test'),
          ),
        ),
      );
      await expectListToFollowStates(serverId);
    }
  });
});

describe('reading reviews', () => {
  it('pages through them, and is empty past the end', async () => {
    const serverId = new ObjectId();
    for (let index = 0; index < 7; index++) {
      await moderateReview(
        deps,
        await write(serverId, 1 + (index % 5), `review ${index}`),
        'approved',
        'test',
      );
    }
    const contents = async (page: number, limit: number) =>
      (await readReviews(deps, serverId, { page, limit })).reviews.map(({ content }) => content);

    expect(await contents(1, 3)).toEqual(['review 6', 'review 5', 'review 4']);
    expect(await contents(3, 3)).toEqual(['review 0']);
    expect(await contents(4, 3)).toEqual([]);
    expect(await contents(Number.MAX_SAFE_INTEGER, 50)).toEqual([]);
    expect(await readReviews(deps, serverId, { page: 99, limit: 3 })).toMatchObject({
      total: 7,
      totalPages: 3,
    });
  });

  it('shows moderators every state, or one', async () => {
    const serverId = new ObjectId();
    const [first, second] = [await write(serverId, 1), await write(serverId, 2)];
    await moderateReview(deps, first, 'approved', 'test');

    expect((await listReviews(deps, serverId, { limit: 10 })).map(({ _id }) => _id)).toEqual([second, first]);
    expect(
      (await listReviews(deps, serverId, { state: 'pending', limit: 10 })).map(({ _id }) => _id),
    ).toEqual([second]);
  });
});

describe('deciding with a reason, and taking it back', () => {
  it('keeps the reason and who decided, also when the same is decided again', async () => {
    const id = await write(new ObjectId(), 2);
    await moderateReview(deps, id, 'rejected', 'one', { reason: ' $insults ' });
    await moderateReview(deps, id, 'rejected', 'other');

    expect(await deps.reviews.findOne({ _id: id })).toMatchObject({
      state: 'rejected',
      rejectedFor: '$insults',
      moderatedBy: 'one',
    });
    await expect(moderateReview(deps, id, 'rejected', 'one', { reason: ' ' })).rejects.toThrow(
      InvalidDocumentError,
    );
  });

  it('takes an approved review off the list when it is pending again', async () => {
    const serverId = new ObjectId();
    const id = await write(serverId, 5);
    await moderateReview(deps, id, 'approved', 'test');
    expect(await moderateReview(deps, id, 'pending', 'test')).toMatchObject({
      state: 'pending',
      moderatedAt: null,
      moderatedBy: null,
    });
    await expectListToFollowStates(serverId);
    expect((await deps.reviewLists.findOne({ _id: serverId }))?.count).toBe(0);
  });

  it('decides only on what was seen, but completes the same decision', async () => {
    const serverId = new ObjectId();
    const id = await write(serverId, 5);
    const decide = (state: 'approved' | 'rejected') =>
      moderateReview(deps, id, state, 'test', { seenAs: 'pending' });
    await deps.reviews.updateOne({ _id: id }, { $set: { state: 'approved', moderatedBy: 'test' } });
    expect(await decide('rejected')).toMatchObject({ state: 'approved' });
    expect(await deps.auditLog.countDocuments({ serverId })).toBe(0);
    expect(await decide('approved')).toMatchObject({ state: 'approved' });
    await expectListToFollowStates(serverId);
  });

  it('of one operator stays if another decides the same; each undoes only the own ones', async () => {
    const serverId = new ObjectId();
    const seen = [await write(serverId, 5), await write(serverId, 4)].map((reviewId) => ({
      reviewId,
      revision: 0,
    }));
    const reject = (some: typeof seen, by: string) =>
      moderateReviews(deps, some, 'rejected', by, { seenAs: 'pending', reason: `by ${by}` });
    expect(await reject(seen.slice(0, 1), 'first')).toHaveLength(1);
    expect(await reject(seen, 'second')).toEqual(seen.slice(1));
    // The answer was lost, and the same press comes again.
    expect(await reject(seen, 'second')).toEqual(seen.slice(1));
    const undone = await moderateReviews(deps, seen, 'pending', 'second', {
      seenAs: 'rejected',
      decidedBy: 'second',
    });
    expect(undone).toEqual(seen.slice(1));
    expect(await deps.reviews.find({ serverId, state: 'rejected' }).toArray()).toMatchObject([
      { _id: seen[0]?.reviewId, moderatedBy: 'first', rejectedFor: 'by first' },
    ]);
  });

  it('of approvals, rejections and undoings that race ends with a list that agrees', async () => {
    const serverId = new ObjectId();
    const ids = [await write(serverId, 1), await write(serverId, 3)];
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        ids.flatMap((id) =>
          (['approved', 'pending', 'rejected', 'pending', 'approved'] as const).map((state) =>
            moderateReview(deps, id, state, 'test'),
          ),
        ),
      );
      await expectListToFollowStates(serverId);
    }
  });
});
