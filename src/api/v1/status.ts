import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { REPORT_VALID_MS, REPORTS_COUNT_DAYS } from '../../history/current-status.ts';
import { reportStatus } from '../../history/report-status.ts';
import { REPORT_INTERVAL_MINUTES, REPORT_INTERVAL_MS } from '../../history/take-reports.ts';
import { requireRightClock } from '../../http/clock-gate.ts';
import { withinDatabaseTime } from '../../http/database-time.ts';
import { RefusedError } from '../../http/http-errors.ts';
import { after, MINUTE } from '../../platform/clock.ts';
import { text } from '../../platform/text.ts';
import type { AppDeps } from '../../process/app-deps.ts';
import { callerOf } from './authentication.ts';
import {
  answer,
  BODY_FAILURES,
  COMMON_FAILURES,
  jsonBody,
  onceHeaders,
  params,
  RATE_LIMIT_HEADERS,
  secondsUntil,
  titled,
  tooEarly,
} from './schemas.ts';

const MOST_PLAYERS = 2_147_483_647;

function playerCount(minimum: number) {
  const error = `is required and must be a whole number, ${minimum} to ${MOST_PLAYERS}`;
  return z.int({ error }).min(minimum, { error }).max(MOST_PLAYERS, { error });
}

const latency = 'must be a number, at most 600000';

const body = jsonBody('StatusReport', {
  online_players: playerCount(0).meta({ description: 'Players on the server.', examples: [42] }),
  max_players: playerCount(-1).meta({
    description:
      'The largest number of players; −1 ("no limit") is stored as 0. It may be below `online_players`, because real servers report that.',
    examples: [100],
  }),
  latency_ms: z
    .number({ error: latency })
    .max(600_000, { error: latency })
    .nullish()
    .meta({ description: 'Milliseconds; a negative number counts as absent.', examples: [23.5] }),
  motd: text({ max: 500 })
    .nullish()
    .describe('Message of the day; line feeds and § codes are stored unchanged.'),
  server_version: text({ max: 100 })
    .nullish()
    .meta({ examples: ['Paper 1.21.4'] }),
});

const accepted = titled('ReportAccepted', { success: z.literal(true) });

/** POST …/status: a game server or its plugin reports the server's status. */
export const statusEndpoint: FastifyPluginAsyncZod<{ deps: AppDeps }> = async (app, { deps }) => {
  app.post(
    '/status',
    {
      // If the database does not answer: the lookup of the token fails, and nothing is stored. With a token from the
      // cache, the call could be answered with an error, and the report still be stored later.
      config: { scope: 'status', freshAuthentication: true },
      preHandler: requireRightClock(deps),
      schema: {
        operationId: 'reportStatus',
        tags: ['server'],
        summary: "Report the server's status",
        description: `One report per server in any ${REPORT_INTERVAL_MINUTES} minutes, also with concurrent requests. It sets the server's current players, message and version at once, until a newer report or check. An optional field that is absent or null keeps its last value. The server's statistics show reports separately from our own checks. If none of our checks has succeeded in the last ${REPORTS_COUNT_DAYS} days, reports also decide \`status\`, \`latency_ms\`, averages and uptime; each report counts until the next one, at most ${REPORT_VALID_MS / MINUTE} minutes. Otherwise these come from our checks alone.`,
        params,
        body,
        response: {
          200: answer(accepted, 'The report was accepted.', RATE_LIMIT_HEADERS),
          ...COMMON_FAILURES,
          ...BODY_FAILURES,
          429: tooEarly(
            'too-early',
            'next_allowed_at',
            'ReportRefused',
            `This server reported in the last ${REPORT_INTERVAL_MINUTES} minutes.`,
          ),
        },
      },
    },
    async (request, reply) => {
      const { serverId } = callerOf(request);
      const { clock } = deps;
      const { body } = request;
      const result = await withinDatabaseTime(
        request,
        reportStatus(deps, serverId, {
          onlinePlayers: body.online_players,
          maxPlayers: body.max_players,
          latencyMs: body.latency_ms ?? undefined,
          motd: body.motd ?? undefined,
          version: body.server_version ?? undefined,
        }),
      );
      if (result.kind === 'refused') {
        const next = result.nextAllowedAt.toISOString();
        throw new RefusedError({
          status: 429,
          code: 'too-early',
          sentence: `This server reported its status less than ${REPORT_INTERVAL_MINUTES} minutes ago: the next report is allowed at ${next}.`,
          headers: {
            'retry-after': String(secondsUntil(result.nextAllowedAt, clock)),
            ...onceHeaders('status', REPORT_INTERVAL_MS, result.nextAllowedAt, clock),
          },
          fields: { next_allowed_at: next },
        });
      }
      reply.headers(
        onceHeaders('status', REPORT_INTERVAL_MS, after(result.reportedAt, REPORT_INTERVAL_MS), clock),
      );
      return { success: true as const };
    },
  );
};
