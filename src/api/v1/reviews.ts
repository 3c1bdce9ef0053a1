import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { ObjectId } from 'mongodb';
import { z } from 'zod';
import { CACHE_CONTROL } from '../../http/cached-answers.ts';
import { withinDatabaseTime } from '../../http/database-time.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { findListed } from '../../ranking/public-servers.ts';
import { readReviews } from '../../reviews/read-reviews.ts';
import { LONGEST_REVIEW } from '../../reviews/write-review.ts';
import { callerOf, isReadBySlug } from './authentication.ts';
import { tagAnswers } from './etag.ts';
import { type CountRead, READ_REFUSED, READS, READS_HEADERS } from './open-reads.ts';
import { publicRecord } from './public-record.ts';
import { followingRenames, MOVED, NO_SERVER, serverNamed } from './read/server-of-path.ts';
import {
  answer,
  COMMON_FAILURES,
  countSchema,
  ETAG_HEADER,
  IF_NONE_MATCH,
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

const idOrSlug = z.object({
  server_id: z.string().meta({
    description: 'The id of the server, or its slug. A former slug redirects to the present one.',
    examples: ['6921f0a4c2b7d81e5f3a9c04', 'harbour-lights'],
  }),
});

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
export const reviewsEndpoint: FastifyPluginAsyncZod<{ deps: AppDeps; countRead: CountRead }> = async (
  app,
  { deps, countRead },
) => {
  tagAnswers(app);
  app.get(
    '/reviews',
    {
      config: { scope: 'read', isOpenBySlug: true },
      schema: {
        operationId: 'listReviews',
        tags: ['server'],
        summary: "Read the server's reviews",
        description: `Only approved reviews are listed and counted, newest first. With the id of the server it needs a token and has no rate limit. With its slug it works without a token, and only so, ${READS.times} times a minute for a network.`,
        security: [{ token: [] }, {}],
        params: idOrSlug,
        querystring,
        headers: IF_NONE_MATCH,
        response: {
          200: answer(page, 'One page of reviews.', { ...ETAG_HEADER, ...READS_HEADERS }),
          301: MOVED,
          304: UNCHANGED,
          ...COMMON_FAILURES,
          404: NO_SERVER,
          429: READ_REFUSED,
        },
      },
    },
    async (request, reply) => {
      const { page, limit } = request.query;
      const named = request.params.server_id;
      const send = async (serverId: ObjectId) => {
        const found = await withinDatabaseTime(request, readReviews(deps, serverId, { page, limit }));
        return {
          review_count: found.reviewCount,
          average_rating: found.averageRating,
          reviews: found.reviews.map((one) => publicRecord(review, one)),
          pagination: { page, limit, total: found.total, total_pages: found.totalPages },
        };
      };
      if (!isReadBySlug(request, named)) return send(callerOf(request).serverId);
      await withinDatabaseTime(request, countRead(request, reply));
      return followingRenames(request, reply, async () => {
        const server = await withinDatabaseTime(
          request,
          serverNamed(named, (slug) => findListed(deps, slug)),
        );
        reply.header('cache-control', CACHE_CONTROL);
        return send(server._id);
      });
    },
  );
};
