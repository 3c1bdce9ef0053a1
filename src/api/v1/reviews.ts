import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { withinDatabaseTime } from '../../http/database-time.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { readReviews } from '../../reviews/read-reviews.ts';
import { LONGEST_REVIEW } from '../../reviews/write-review.ts';
import { callerOf } from './authentication.ts';
import { tagAnswers } from './etag.ts';
import { publicRecord } from './public-record.ts';
import {
  answer,
  COMMON_FAILURES,
  countSchema,
  ETAG_HEADER,
  IF_NONE_MATCH,
  params,
  timestamp,
  titled,
  UNCHANGED,
} from './schemas.ts';

const MOST_PER_PAGE = 50;

/** Greater numbers than `most` count as `most`; an empty or absent parameter counts as `fallback`. */
function positive(fallback: number, most: number, description: string) {
  const error = 'must be a whole number, 1 or more';
  return z
    .string({ error })
    .regex(/^\d*$/, { error, abort: true })
    .transform((digits) => (digits === '' ? fallback : Math.min(Number(digits), most)))
    .refine((value) => value >= 1, { error })
    .optional()
    .transform((value) => value ?? fallback)
    .meta({ type: 'integer', minimum: 1, default: fallback, description });
}

const querystring = z.object({
  page: positive(1, Number.MAX_SAFE_INTEGER, 'A page after the last one is an empty list.'),
  limit: positive(10, MOST_PER_PAGE, 'Reviews per page; more than 50 counts as 50.'),
});

const review = z.object({
  username: z.string().meta({ examples: ['Steve'] }),
  rating: z
    .int()
    .min(1)
    .max(5)
    .meta({ examples: [5] }),
  content: z
    .string()
    .optional()
    .meta({
      description: `Up to ${LONGEST_REVIEW.toLocaleString('en')} characters; absent if there is none.`,
      examples: ['Kind people, and it is hardly ever away.'],
    }),
  created_at: timestamp,
});

const page = titled('ReviewPage', {
  review_count: countSchema.meta({ examples: [14] }),
  average_rating: z
    .number()
    .min(0)
    .max(5)
    .meta({ description: 'At most 2 decimals; 0 if there are no reviews.', examples: [4.36] }),
  reviews: z.array(review),
  pagination: z.object({
    page: z.int().min(1),
    limit: z.int().min(1).max(MOST_PER_PAGE).describe('The limit that was used.'),
    total: countSchema,
    total_pages: countSchema.describe('0 if there are no reviews.'),
  }),
});

/** GET …/reviews: the approved reviews, newest first. */
export const reviewsEndpoint: FastifyPluginAsyncZod<{ deps: AppDeps }> = async (app, { deps }) => {
  tagAnswers(app);
  app.get(
    '/reviews',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'listReviews',
        tags: ['server'],
        summary: "Read the server's reviews",
        description: 'No rate limit. Only approved reviews are listed and counted, newest first.',
        params,
        querystring,
        headers: IF_NONE_MATCH,
        response: {
          200: answer(page, 'One page of reviews.', ETAG_HEADER),
          304: UNCHANGED,
          ...COMMON_FAILURES,
        },
      },
    },
    async (request) => {
      const { page, limit } = request.query;
      const { serverId } = callerOf(request);
      const found = await withinDatabaseTime(request, readReviews(deps, serverId, { page, limit }));
      return {
        review_count: found.reviewCount,
        average_rating: found.averageRating,
        reviews: found.reviews.map((one) => publicRecord(review, one)),
        pagination: { page, limit, total: found.total, total_pages: found.totalPages },
      };
    },
  );
};
