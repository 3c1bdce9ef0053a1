import { ObjectId, type WithId } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { after, HOUR } from '../../src/platform/clock.ts';
import { InvalidDocumentError } from '../../src/platform/document.ts';
import type { AppDeps } from '../../src/process/app-deps.ts';
import { answerReview } from '../../src/reviews/answer-review.ts';
import { moderateReview } from '../../src/reviews/moderate-review.ts';
import { deleteOwnReview, findOwnReview, saveOwnReview, whyNotReview } from '../../src/reviews/own-review.ts';
import { readAnswered } from '../../src/reviews/read-reviews.ts';
import type { Review, ReviewState } from '../../src/reviews/review.ts';
import { repairReviewLists } from '../../src/reviews/review-list.ts';
import { testDeps } from '../support/test-deps.ts';

let deps: AppDeps;
let now = new Date('2026-11-21T08:00:00.000Z');

beforeAll(async () => {
  const opened = await testDeps();
  deps = { ...opened, clock: { now: () => now } };
});

const whose = () => ({ serverId: new ObjectId(), userId: new ObjectId() });
type Whose = ReturnType<typeof whose>;

async function save(who: Whose, rating: number, content = 'Words.'): Promise<WithId<Review>> {
  const saved = await saveOwnReview(deps, who, { username: 'Ada', rating, content });
  if (!('review' in saved)) throw new Error('too often');
  return saved.review;
}

const decide = (review: WithId<Review>, state: ReviewState, seen = review) =>
  moderateReview(deps, review._id, state, 'test', { seenAs: seen.state, revision: seen.revision ?? 0 });

/** The public list is what the states of the reviews say. */
async function expectListToFollow(serverId: ObjectId): Promise<void> {
  const approved = await deps.reviews.find({ serverId, state: 'approved' }).toArray();
  const list = await deps.reviewLists.findOne({ _id: serverId });
  const spread = [1, 2, 3, 4, 5].map((stars) => approved.filter(({ rating }) => rating === stars).length);
  const sum = approved.reduce((total, { rating }) => total + rating, 0);
  expect(list?.entries.map(({ id, rating }) => [id.toHexString(), rating]).toSorted() ?? []).toEqual(
    approved.map(({ _id, rating }) => [_id.toHexString(), rating]).toSorted(),
  );
  expect([list?.count ?? 0, list?.ratingSum ?? 0]).toEqual([approved.length, sum]);
  expect([1, 2, 3, 4, 5].map((stars) => list?.spread?.[stars] ?? 0)).toEqual(spread);
}

describe('a user’s review of a server', () => {
  it('is one, however often and from however many windows it is sent', async () => {
    const who = whose();
    await Promise.all([1, 2, 3, 4, 5].map((rating) => save(who, rating)));
    expect(await deps.reviews.countDocuments({ serverId: who.serverId, personId: who.userId })).toBe(1);
    expect(await findOwnReview(deps, who.serverId, who.userId)).toMatchObject({ state: 'pending' });
    expect(await findOwnReview(deps, who.serverId, new ObjectId())).toBeNull();
  });

  it('waits again when it is changed, and leaves the public list and its figures at once', async () => {
    const who = whose();
    const first = await save(who, 5, 'Great.');
    await decide(first, 'approved');
    expect(await readAnswered(deps, who.serverId, { page: 1, limit: 5 })).toMatchObject({
      total: 1,
      averageRating: 5,
    });
    now = after(now, 1_000);
    const changed = await save(who, 2, 'Not so great.\r\nAt all.');
    expect(changed).toMatchObject({
      _id: first._id,
      state: 'pending',
      rating: 2,
      content: 'Not so great.\nAt all.',
      moderatedBy: null,
      createdAt: first.createdAt,
      editedAt: now,
    });
    expect(await readAnswered(deps, who.serverId, { page: 1, limit: 5 })).toMatchObject({
      total: 0,
      averageRating: 0,
      spread: [0, 0, 0, 0, 0],
    });
    await decide(changed, 'approved');
    expect(await readAnswered(deps, who.serverId, { page: 1, limit: 5 })).toMatchObject({
      total: 1,
      averageRating: 2,
      spread: [0, 1, 0, 0, 0],
    });
  });

  it('stays approved when it is saved as it stands', async () => {
    const who = whose();
    await decide(await save(who, 4), 'approved');
    expect(await save(who, 4)).toMatchObject({ state: 'approved' });
    expect(await save(who, 4, '')).toMatchObject({ state: 'pending' });
    expect(await findOwnReview(deps, who.serverId, who.userId)).not.toHaveProperty('content');
  });

  it('is decided as it was seen: a decision on words that were changed meanwhile changes nothing', async () => {
    const who = whose();
    const seen = await save(who, 5, 'Fine.');
    const changed = await save(who, 1, 'Join my server instead!');
    expect(await decide(changed, 'approved', seen)).toMatchObject({ state: 'pending', rating: 1 });
    expect(await decide(changed, 'rejected')).toMatchObject({ state: 'rejected' });
    const again = await save(who, 3, 'A good server.');
    expect(again).toMatchObject({ state: 'pending', rejectedFor: null });
    await expectListToFollow(who.serverId);
  });

  it('keeps the owner’s answer when it is changed, and takes it along when it is deleted', async () => {
    const who = whose();
    const review = await save(who, 5);
    await decide(review, 'approved');
    const reviewId = review._id;
    await answerReview(deps, { serverId: who.serverId, reviewId, answer: 'Thank you.' }, 'owner');
    const changed = await save(who, 4);
    expect(changed.answer?.text).toBe('Thank you.');
    const answered = { serverId: who.serverId, reviewId, answer: 'Too early.' };
    expect(await answerReview(deps, answered, 'owner')).toBeNull();
    expect(await deleteOwnReview(deps, who)).toBe(true);
    expect(await deps.reviews.findOne({ _id: reviewId })).toBeNull();
    expect(await deleteOwnReview(deps, who)).toBe(false);
  });

  it('is gone from list and figures when it is deleted, and can be written anew', async () => {
    const who = whose();
    await decide(await save(who, 5), 'approved');
    await deleteOwnReview(deps, who);
    await expectListToFollow(who.serverId);
    await decide(await save(who, 3), 'approved');
    await expectListToFollow(who.serverId);
  });

  it('is limited in an hour, counted only where something is stored', async () => {
    const who = whose();
    for (let i = 0; i < 10; i++) await save(who, 1 + (i % 5), `No. ${i}`);
    await save(who, 5, 'No. 9');
    const wrong = saveOwnReview(deps, who, { username: 'Ada', rating: 9 });
    await expect(wrong).rejects.toThrow(InvalidDocumentError);
    const refused = await saveOwnReview(deps, who, { username: 'Ada', rating: 1 });
    expect(refused).toEqual({ nextAllowedAt: expect.any(Date) });
    now = after(now, HOUR);
    expect(await save(who, 1)).toMatchObject({ rating: 1 });
  });
});

describe('who may not review a server', () => {
  const user = { _id: new ObjectId(), emailVerified: true };
  it('is its owner', () => {
    expect(whyNotReview({ ownerId: user._id }, user, true)).toBe('own-server');
    expect(whyNotReview({ ownerId: new ObjectId() }, user, true)).toBeNull();
    expect(whyNotReview({}, user, true)).toBeNull();
  });
  it('is somebody whose address is not confirmed, where addresses are', () => {
    const unconfirmed = { ...user, emailVerified: false };
    expect(whyNotReview({}, unconfirmed, true)).toBe('unconfirmed');
    expect(whyNotReview({}, unconfirmed, false)).toBeNull();
  });
});

it('whatever users write, change and delete while operators decide, the list ends as the states say', async () => {
  const serverId = new ObjectId();
  let seed = 20_261_121;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  const users = Array.from({ length: 6 }, () => ({ serverId, userId: new ObjectId() }));
  for (let round = 0; round < 12; round++) {
    await Promise.all(
      users.flatMap((who) =>
        [1, 2, 3].map(async () => {
          const review = await findOwnReview(deps, serverId, who.userId);
          const act = random(6);
          if (act === 0) return deleteOwnReview(deps, who);
          if (act <= 2 || !review)
            return saveOwnReview(deps, who, {
              username: 'Ada',
              rating: 1 + random(5),
              content: `${seed}`,
            });
          return decide(review, (['approved', 'approved', 'rejected'] as const)[random(3)] ?? 'approved');
        }),
      ),
    );
    await expectListToFollow(serverId);
    now = after(now, HOUR);
  }
  expect(await deps.reviews.countDocuments({ serverId })).toBeGreaterThan(0);
});

it('a list of an older version, whose entries have no stars, is left and entered with the right figures', async () => {
  const who = whose();
  const review = await save(who, 4);
  await decide(review, 'approved');
  await deps.reviewLists.updateOne({ _id: who.serverId }, { $unset: { 'entries.0.rating': '' } });
  await moderateReview(deps, review._id, 'rejected', 'test');
  await expectListToFollow(who.serverId);
  await moderateReview(deps, review._id, 'approved', 'test');
  await expectListToFollow(who.serverId);
});

/** The platform with something that happens just before the next writing of a public list. */
function withMeanwhile(meanwhile: () => Promise<unknown>): AppDeps {
  let pending: typeof meanwhile | undefined = meanwhile;
  const updateOne: AppDeps['reviewLists']['updateOne'] = async (...given) => {
    const first = pending;
    pending = undefined;
    await first?.();
    return deps.reviewLists.updateOne(...given);
  };
  const reviewLists = Object.assign(Object.create(deps.reviewLists), { updateOne });
  return { ...deps, reviewLists };
}

it('a slow approval does not bring back the stars of words that were changed and approved meanwhile', async () => {
  const who = whose();
  const review = await save(who, 5);
  const slow = withMeanwhile(async () => decide(await save(who, 1), 'approved'));
  await moderateReview(slow, review._id, 'approved', 'test');
  await expectListToFollow(who.serverId);
  expect(await readAnswered(deps, who.serverId, { page: 1, limit: 5 })).toMatchObject({
    averageRating: 1,
  });
});

it('a slow approval does not bring back a review that was deleted meanwhile', async () => {
  const who = whose();
  const review = await save(who, 5);
  const slow = withMeanwhile(() => deleteOwnReview(deps, who));
  expect(await moderateReview(slow, review._id, 'approved', 'test')).toBeNull();
  await expectListToFollow(who.serverId);
});

it('a list that a killed process left behind says the next day what was decided', async () => {
  const serverId = new ObjectId();
  const written = await Promise.all(
    [5, 1].map((rating) => save({ serverId, userId: new ObjectId() }, rating)),
  );
  const [praise, blame] = written;
  if (!praise || !blame) throw new Error('not written');
  await decide(praise, 'approved');
  // What is decided is written first, and the list then.
  const killed = (review: WithId<Review>, state: ReviewState) =>
    deps.reviews.updateOne({ _id: review._id }, { $set: { state, moderatedAt: now } });
  await killed(praise, 'rejected');
  await killed(blame, 'approved');
  const page = { page: 1, limit: 10 };
  expect(await readAnswered(deps, serverId, page)).toMatchObject({ total: 1, averageRating: 5 });
  await repairReviewLists(deps, now.toISOString().slice(0, 10));
  expect(await readAnswered(deps, serverId, page)).toMatchObject({ total: 1, averageRating: 1 });
  await expectListToFollow(serverId);
});
