import { createHash } from 'node:crypto';
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { SECRET_OVERLAP_MS } from '../delivery/http/http-listeners.ts';
import { type Compressed, compressOnce, encodedFor } from '../http/compressed.ts';
import { isKnownTag } from '../http/if-none-match.ts';
import { BODY_KIB, DONE_KIB } from '../http/request-limits.ts';
import { DELIVERY_EXPIRES_HOURS, RESENDABLE_DAYS } from '../listeners/delivery-limits.ts';
import { HOUR, SECOND } from '../platform/clock.ts';
import { OPERATION_TIMEOUT_MS } from '../platform/mongo.ts';
import { once } from '../platform/once.ts';
import { DEFAULTS } from '../platform/settings/definitions.ts';
import { REVOKED_WITHIN_SECONDS } from '../servers/authenticate-token.ts';
import { COOLDOWN_HOURS } from '../votes/cast/cooldown.ts';
import { describeQuickStart } from './quick-start.ts';

const FRESH_SECONDS = 300;

const describe = (publicUrl: string) =>
  `
The API of a listed game server. Plugins and websites cast votes, report the server's status and read the data that the
listing shows.

${describeQuickStart(publicUrl)}

# Requests and answers

**Tokens.** Every call needs the header \`Authorization: Bearer <token>\`. A token belongs to one server; its owner makes
it in the server's dashboard, section "API access": open [Your servers](${publicUrl}/dashboard), choose the server, then "API
access". The token is shown once. A revoked token is refused within ${REVOKED_WITHIN_SECONDS} seconds. A missing, malformed,
revoked or expired token, a token of another server, and an unknown or removed server all give the same 401, so that an
outsider cannot find out which servers exist. A server's id never changes and is never reused.

**Errors.** Every error body is \`{"error": "<sentence for a human>", "code": "<name>", "doc_url": "<address>"}\`. A code never changes and is for
programs; a later version may add codes. \`doc_url\` leads to the code in [the list of all codes](${publicUrl}/docs/errors). Each answer below lists its codes. A 429 also contains the time from which the next
request is accepted. Errors are checked in this order: 404 (no such path), 405, 401, 403, 415, 413, 400, 422, 429. 500 is an
error of the listing. 503, with \`Retry-After\`, means overload, a process that is stopping or has a wrong clock, or a
database that does not answer within ${OPERATION_TIMEOUT_MS / SECOND} seconds. A client should retry later after every 5xx. A request that cannot be
parsed may also get 400, 408 (\`request-timeout\`), 417 (\`expectation-failed\`) or 431 (\`headers-too-large\`), in the same
shape; an unknown path gets 404 (\`not-found\`), another method 405 (\`method-not-allowed\`). Every answer to a request that could be parsed has the
header \`X-Request-Id\`: include it when you report a problem.

**Requests.** A body is JSON in UTF-8 with \`Content-Type: application/json\`, at most ${BODY_KIB} KiB (\`deliveries/done\`: ${DONE_KIB} KiB). Unknown fields and query
parameters are ignored. \`null\` in an optional field counts as absent. Lengths are in Unicode code points. An unpaired
surrogate and a parameter that is given twice are 400.

**Times** are ISO 8601 in UTC with milliseconds. Months and days are UTC calendar months and UTC days.

**Limits.** Casting a vote and reporting a status have limits, which the headers \`RateLimit\`, \`RateLimit-Policy\` and
\`Retry-After\` show; so has taking votes. The other calls have none.

**Messages.** The API sends no webhooks and no other events to its clients. A server's owner may set a vote listener,
which is described below.

**Versions.** The version is in the path. A new version gets a new prefix and the old one stays. The headers
\`Deprecation\` and \`Sunset\` announce the end of a version.

# Votes at a URL

A server whose game has no Votifier can receive its votes at a URL. Its owner sets an HTTP listener in the dashboard,
section "Vote listener", and gets a secret, which is shown once. The listing then posts each accepted vote there:

\`\`\`json
{"type":"vote.cast","data":{"vote_id":"01998a3e-7e4b-7000-8000-0123456789ab","server_id":"0123456789abcdef01234567","username":"Steve","voted_at":"2026-11-21T08:00:00.000Z"}}
\`\`\`

**Challenge.** Before the first vote, and later from time to time, the listing posts a signed challenge. The answer repeats
it with any 2xx status, as \`{"challenge": "…"}\` or as plain text. Until then the votes wait.

\`\`\`json
{"type":"listener.challenge","data":{"server_id":"0123456789abcdef01234567","challenge":"x6PSX4PZ8dNT4qN9i3sD0gSOmXG0c2nD0mZ5V4vJ2jQ"}}
\`\`\`

**Signature.** Challenges and votes are signed as Standard Webhooks describes (headers \`webhook-id\`,
\`webhook-timestamp\`, \`webhook-signature\`); there are libraries for many languages. \`webhook-id\` is the vote's id, the
same in every attempt. Remember the ids that you have rewarded: a vote whose answer was lost is posted again. After the
secret is replaced, votes carry both signatures for ${SECRET_OVERLAP_MS / HOUR} hours.

**Answer.** Any 2xx status is an acknowledgement, within ${Number(DEFAULTS.LISTENER_TIMEOUT_MS) / SECOND} seconds. Redirects are not followed. Other answers are tried
again for ${DELIVERY_EXPIRES_HOURS} hours, and \`Retry-After\` is respected up to an hour. A test vote has the username \`TallyportTest\`.

# Fetching votes

A game server without an open port may take its votes instead: its owner chooses that it fetches them, and makes a delivery
token (\`tpd_…\`), which may only call \`deliveries/take\` and \`deliveries/done\`. A take leases votes, and waits for some
if it is asked to; \`done\` says what became of them. If a lease ends without a word, the vote may have arrived, and is
handed out again with a higher \`sending\`. Remember the ids of votes for ${RESENDABLE_DAYS} days, and do not hand a vote over twice.

# Claims

A plugin may also ask the listing for votes. It checks whether a player voted in the last ${COOLDOWN_HOURS} hours and claims the vote
before it rewards the player. However many calls come at once, exactly one claims a vote. A new plugin calls
\`POST /api/v1/servers/{id}/votes/claim\` with an API token or a claim key (\`tpc_…\`), which may only check and claim votes
of one server. Its owner makes the key in the dashboard under "Connect" or "API access"; "Connect" also has the
configurations of known plugins. Excluded and quarantined votes answer as no vote, imported votes as claimed. The owner
chooses under "Vote listener" whether votes are pushed, claimed or both; with both, each vote is rewarded twice.

The contracts of known plugins answer at \`/api/\` with plain text and status 200. The claim key is in the address, so
treat it as less secret than a token.

| Call to \`/api/?…&key=KEY&username=NAME\` (or \`steamid=ID\`) | Answer |
|---|---|
| \`object=votes&element=claim\` | \`0\` no vote, \`1\` voted, \`2\` claimed |
| \`action=post&object=votes&element=claim\` | \`1\` claimed now, \`0\` not |
| \`action=custom&object=plugin&element=reward\` | \`1\` claimed now, \`2\` claimed before, \`0\` no vote |
| \`action=status\` | \`0\` no vote, \`1\` voted, \`2\` claimed |
| \`action=claim\` | \`1\` reward now, \`2\` claimed before, \`0\` no vote |
| a wrong key | \`Error: server key not found\` |
`.trim();

/**
 * Zod adds the bounds of safe integers and the pattern of a date; it leaves out what transformed fields have in `meta`.
 */
const describeSchemas = createJsonSchemaTransform({
  zodToJsonConfig: {
    override({ zodSchema, jsonSchema }) {
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.type === 'integer') delete jsonSchema.pattern;
      const { examples, default: fallback, minLength, maxLength } = z.globalRegistry.get(zodSchema) ?? {};
      if (Array.isArray(examples)) jsonSchema.examples = examples;
      if (typeof minLength === 'number') jsonSchema.minLength = minLength;
      if (typeof maxLength === 'number') jsonSchema.maxLength = maxLength;
      if (fallback !== undefined) jsonSchema.default = fallback;
    },
  },
});

/** As `describeSchemas`. Request headers get capitals, because the schemas have Node's names in lower case. */
const transform: typeof describeSchemas = (document) => {
  const { schema, url } = describeSchemas(document);
  const headers = schema.headers as { properties?: Record<string, unknown> } | undefined;
  if (headers?.properties) {
    headers.properties = Object.fromEntries(
      Object.entries(headers.properties).map(([name, value]) => [
        name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()),
        value,
      ]),
    );
  }
  return { schema, url };
};

/** Prepares the document of all routes that have a tag and are registered after this call, from their schemas. */
export async function describeApi(app: FastifyInstance, { publicUrl }: { publicUrl: string }): Promise<void> {
  await app.register(swagger, {
    hideUntagged: true,
    transform,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tallyport API',
        version: '1.0.0',
        description: describe(publicUrl),
        license: { name: 'MIT', identifier: 'MIT' },
        contact: { name: 'The operators of this listing', url: publicUrl },
      },
      servers: [{ url: publicUrl }],
      tags: [
        { name: 'votes', description: 'Cast votes, check whether a player has voted, and read the votes.' },
        { name: 'deliveries', description: 'A game server fetches its votes, without an open port.' },
        { name: 'server', description: "Report the server's status; read its figures and reviews." },
      ],
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', description: 'A token of the server named in the path.' },
        },
      },
      security: [{ token: [] }],
    },
  });
}

/** Call it only after `app.ready()`. */
export function readApiDocument(app: FastifyInstance): object {
  return nameSchemas(structuredClone(app.swagger()));
}

export async function openApiDocument(app: FastifyInstance): Promise<void> {
  const document = once(() => compressDocument(readApiDocument(app)));
  app.get('/openapi.json', { schema: { hide: true } }, async (request, reply) => {
    const { etag, ...bodies } = await document();
    reply.headers({ etag, 'cache-control': `public, max-age=${FRESH_SECONDS}` });
    const body = encodedFor(request, reply, bodies);
    if (isKnownTag(request, etag)) return reply.removeHeader('content-encoding').code(304).send();
    return reply.type('application/json; charset=utf-8').send(body);
  });
}

async function compressDocument(document: object): Promise<Compressed & { etag: string }> {
  const content = JSON.stringify(document);
  // The ETag is weak, because each encoding has other bytes for the same document.
  const etag = `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
  return { ...(await compressOnce(content)), etag };
}

/** The parts of an OpenAPI document that this file reads and changes. */
type Schema = { $ref: string } | { title?: string; description?: string };
type Described = { content?: Record<string, { schema?: Schema }>; headers?: Record<string, unknown> };
type Operation = { requestBody?: Described; responses?: Record<string, Described> };
type Document = {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema>; headers?: Record<string, unknown> };
};

const REQUEST_ID = {
  description: 'The id of this request. Include it when you report a problem.',
  schema: { type: 'string', format: 'uuid' },
};

/**
 * Moves each body schema with a `title` to the components: generated clients use the title as type name. Changes the
 * paths of `document` in place, and returns a shallow copy with the new components.
 */
function nameSchemas<D extends object>(document: D): D {
  const { paths = {}, components } = document as Document;
  const schemas: Record<string, Schema> = {};
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    const answers = Object.values(operation.responses ?? {});
    for (const { content = {} } of [operation.requestBody ?? {}, ...answers]) {
      for (const media of Object.values(content)) {
        if (!media.schema || !('title' in media.schema)) continue;
        // Several responses may share the schema, but the description belongs to one of them, so it is left out.
        const { title = '', description: _, ...schema } = media.schema;
        schemas[title] = schema;
        media.schema = { $ref: `#/components/schemas/${title}` };
      }
    }
    for (const answer of answers)
      answer.headers = { ...answer.headers, 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };
  }
  return {
    ...document,
    components: {
      ...components,
      schemas: { ...components?.schemas, ...schemas },
      headers: { 'X-Request-Id': REQUEST_ID },
    },
  };
}
