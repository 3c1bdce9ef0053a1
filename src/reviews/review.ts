import { type InferRawDocType, Schema } from 'mongoose';
import { LONGEST_REASON } from '../platform/text.ts';

export const REVIEW_STATES = ['pending', 'approved', 'rejected'] as const;
export type ReviewState = (typeof REVIEW_STATES)[number];

/** In stars. */
export const RATINGS = [1, 2, 3, 4, 5] as const;

const answerDefinition = {
  text: { type: String, required: true },
  at: { type: Date, required: true },
  /** An e-mail address; not public. */
  by: { type: String, required: true },
} as const;

const reviewDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  serverId: { type: Schema.Types.ObjectId, required: true },
  username: { type: String, required: true },
  rating: { type: Number, required: true, min: 1, max: 5, validate: Number.isInteger },
  content: { type: String },
  /** The user who wrote the review; absent if an operator entered it. The field keeps its name from version 0.1.0. */
  personId: { type: Schema.Types.ObjectId },
  /** Changes with each edit, so that a decision applies only to the version that the operator saw. Absent means 0. */
  revision: { type: Number },
  editedAt: { type: Date },
  state: { type: String, enum: REVIEW_STATES, required: true },
  createdAt: { type: Date, required: true },
  /** Null while the review is pending. */
  moderatedAt: { type: Date, default: null },
  moderatedBy: { type: String, default: null },
  /** Neither the author nor the owner sees it. */
  rejectedFor: { type: String, default: null },
  /** The author sees it. */
  rejectionReason: { type: String, maxlength: LONGEST_REASON, default: null },
  /** Set even if nobody was to be notified. */
  toldAt: { type: Date },
  answer: { type: new Schema(answerDefinition, { _id: false }) },
} as const;

export const reviewSchema = new Schema(reviewDefinition, { collection: 'reviews' });
reviewSchema.index({ serverId: 1, state: 1, createdAt: -1 });
reviewSchema.index(
  { serverId: 1, personId: 1 },
  { unique: true, partialFilterExpression: { personId: { $exists: true } } },
);
reviewSchema.index(
  { personId: 1, createdAt: -1, _id: -1 },
  { partialFilterExpression: { personId: { $exists: true } } },
);
// Of operators: pending reviews with the oldest first, decided reviews with the newest decision first.
reviewSchema.index({ state: 1, createdAt: 1, _id: 1 });
reviewSchema.index({ state: 1, moderatedAt: -1, _id: -1 });

const listingDefinition = {
  _id: { type: Schema.Types.ObjectId, required: true },
  count: { type: Number, required: true },
  ratingSum: { type: Number, required: true },
  /** The number of reviews for each rating: `{'1': 0, '5': 12}`; a rating without reviews may be absent. */
  spread: { type: Schema.Types.Mixed, default: {} },
  /** Newest first. */
  entries: {
    type: [
      new Schema(
        {
          id: { type: Schema.Types.ObjectId, required: true },
          at: { type: Date, required: true },
          /** The rating that `ratingSum` and `spread` count; absent in entries from before version 0.1.0. */
          rating: { type: Number },
        },
        { _id: false },
      ),
    ],
    required: true,
  },
} as const;

/**
 * Approved reviews in their public order. A page is a slice of this list: with `skip()` on an index, MongoDB would
 * examine all entries before the page.
 */
export const reviewListSchema = new Schema(listingDefinition, { collection: 'review_lists' });

export type Review = InferRawDocType<typeof reviewDefinition>;
export type ReviewList = Omit<InferRawDocType<typeof listingDefinition>, 'entries' | 'spread'> & {
  spread?: Record<string, number>;
  entries: { id: Review['_id']; at: Date; rating?: number }[];
};

export function revisionOf({ revision }: Pick<Review, 'revision'>): number {
  return revision ?? 0;
}

export const UNDECIDED = {
  state: 'pending',
  moderatedAt: null,
  moderatedBy: null,
  rejectedFor: null,
  rejectionReason: null,
} as const;
