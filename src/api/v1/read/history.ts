import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type HistoryPoint, historyBetween, nextStep } from '../../../history/history.ts';
import { RefusedError } from '../../../http/http-errors.ts';
import { after, DAY, HOUR } from '../../../platform/clock.ts';
import { twoDecimals } from '../../../platform/two-decimals.ts';
import { findListed } from '../../../ranking/public-servers.ts';
import { DEAR, READS } from '../open-reads.ts';
import { publicRecord } from '../public-record.ts';
import { answer, countSchema, IF_NONE_MATCH, percentage, timestamp, titled, UNCHANGED } from '../schemas.ts';
import { OPEN, READ_FAILURES, READ_HEADERS, type ReadDeps, sendRead } from './read-route.ts';
import { followingRenames, MOVED, NO_SERVER, serverNamed, slugParams } from './server-of-path.ts';

const MOST_POINTS = 800;

/** The length of a step, and of the time before `to` that is read without `from`. */
const STEPS = { hour: { ms: HOUR, usual: 2 * DAY }, day: { ms: DAY, usual: 30 * DAY } } as const;
const STEP_NAMES = Object.keys(STEPS) as (keyof typeof STEPS)[];

const timeRule = 'must be a UTC day or time: 2026-11-21 or 2026-11-21T08:00:00Z';
const stepRule = `must be one of ${STEP_NAMES.join(', ')}`;

const time = (description: string) =>
  z
    .string({ error: timeRule })
    .regex(/^(\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z)?)?$/, { error: timeRule, abort: true })
    .refine((text) => text === '' || !Number.isNaN(Date.parse(text)), { error: timeRule })
    .optional()
    .transform((text) => (text ? new Date(text) : undefined))
    .meta({ type: 'string', description, examples: ['2026-11-21'] });

const querystring = z.object({
  from: time(
    `The first step begins then or later. Without it: ${STEPS.day.usual / DAY} days before \`to\`, or ${STEPS.hour.usual / DAY} days with \`step=hour\`.`,
  ),
  to: time('The last step begins before. Without it: now.'),
  step: z
    .preprocess(
      (value) => (value === '' ? undefined : value),
      z.enum(STEP_NAMES, { error: stepRule }).optional(),
    )
    .meta({ type: 'string', enum: STEP_NAMES, default: 'day', description: 'UTC days, or hours.' }),
});

const point = z.object({
  at: timestamp.describe('When the step begins.'),
  average_players: z
    .number()
    .min(0)
    .nullable()
    .meta({ description: 'At most 2 decimals; null if unknown or hidden.', examples: [38.25] }),
  peak_players: countSchema.nullable().meta({ description: 'null if unknown or hidden.', examples: [64] }),
  uptime_percentage: percentage('At most 2 decimals; null while nothing is known or the listing was paused.'),
});

const history = titled('PublicHistory', {
  step: z.enum(STEP_NAMES),
  points: z
    .array(point)
    .describe('From the first to the last step with data, oldest first. A day is there once it has ended.'),
});

function pointOf({ at, averagePlayers, peakPlayers, onlineShare }: HistoryPoint) {
  return publicRecord(point, {
    at,
    averagePlayers: twoDecimals(averagePlayers),
    peakPlayers,
    uptimePercentage: twoDecimals(onlineShare === null ? null : 100 * onlineShare),
  });
}

function malformed(sentence: string): RefusedError {
  return new RefusedError({ status: 400, code: 'malformed', sentence });
}

/** In whole steps, so that calls of the same steps share an answer. @throws {RefusedError} 400 */
function wantedOf({ from, to, step = 'day' }: z.output<typeof querystring>, now: Date) {
  const { ms, usual } = STEPS[step];
  const until = to ?? now;
  const since = from ?? after(until, -usual);
  if (since >= until) throw malformed('from must be before to.');
  if (until.getTime() - since.getTime() > MOST_POINTS * ms)
    throw malformed(
      `from and to must be at most ${MOST_POINTS} steps apart: choose a shorter time or longer steps.`,
    );
  return { step, from: nextStep(step, since), to: nextStep(step, until) };
}

/** GET /api/v1/servers/{slug}/history: the chart of its page, by hours or days. */
export const historyEndpoint: FastifyPluginAsyncZod<ReadDeps> = async (app, read) => {
  const { deps, countRead } = read;
  app.get(
    '/servers/:slug/history',
    {
      schema: {
        ...OPEN,
        operationId: 'getServerHistory',
        tags: ['listing'],
        summary: "Read a server's players and uptime over time",
        description: `No token is needed. ${READS.times} calls a minute for a network; with \`step=hour\` each counts as ${DEAR}. At most ${MOST_POINTS} steps.`,
        params: slugParams,
        querystring,
        headers: IF_NONE_MATCH,
        response: {
          200: answer(history, 'The history.', READ_HEADERS),
          301: MOVED,
          304: UNCHANGED,
          ...READ_FAILURES,
          404: NO_SERVER,
        },
      },
    },
    async (request, reply) => {
      const { slug } = request.params;
      const wanted = wantedOf(request.query, deps.clock.now());
      await countRead(request, reply, wanted.step === 'hour' ? DEAR : 1);
      const make = async () => {
        const server = await serverNamed(slug, (named) => findListed(deps, named));
        const points = await historyBetween(deps, server._id, wanted);
        return { body: { step: wanted.step, points: points.map(pointOf) } };
      };
      const key = JSON.stringify(['history', slug, wanted.step, wanted.from, wanted.to]);
      const takeSlot = wanted.step === 'hour' ? read.takeHourlySlot : read.takeSlot;
      return followingRenames(request, reply, () =>
        sendRead(request, reply, { ...read, takeSlot }, { key, make }),
      );
    },
  );
};
