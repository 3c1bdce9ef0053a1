import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { nameSchemas } from './named-schemas.ts';

const DESCRIPTION = `
The API of a listed game server. Plugins and websites cast votes, report the server's status and read the data that the
listing shows.

**Tokens.** Every call needs the header \`Authorization: Bearer <token>\`. A token belongs to one server; its owner makes
it in the server's dashboard, section "API Access". A revoked token is refused within 5 seconds. A missing, malformed,
revoked or expired token, a token of another server, and an unknown or removed server all give the same 401, so that an
outsider cannot find out which servers exist. A server's id never changes and is never reused.

**Errors.** Every error body is \`{"error": "<sentence for a human>", "code": "<name>"}\`. A code never changes and is for
programs; a later version may add codes. Each answer below lists its codes. A 429 also contains the time from which the next
request is accepted. Errors are checked in this order: 404 (no such path), 405, 401, 415, 413, 400, 422, 429. 500 is an
error of the listing. 503, with \`Retry-After\`, means overload, a process that is stopping or has a wrong clock, or a
database that does not answer within 5 seconds. A client should retry later after every 5xx. A request that cannot be
parsed may also get 400, 408 (\`request-timeout\`), 417 (\`expectation-failed\`) or 431 (\`headers-too-large\`), in the same
shape; an unknown path gets 404 (\`not-found\`), another method 405 (\`method-not-allowed\`). Every answer to a request that could be parsed has the
header \`X-Request-Id\`: include it when you report a problem.

**Requests.** A body is JSON in UTF-8 with \`Content-Type: application/json\`, at most 16 KiB. Unknown fields and query
parameters are ignored. \`null\` in an optional field counts as absent. Lengths are in Unicode code points. An unpaired
surrogate and a parameter that is given twice are 400.

**Times** are ISO 8601 in UTC with milliseconds. Months and days are UTC calendar months and UTC days.

**Limits.** Casting a vote and reporting a status have limits, which the headers \`RateLimit\`, \`RateLimit-Policy\` and
\`Retry-After\` show. The other calls have none.

**Messages.** The API sends no webhooks and no other events to its clients.

**Versions.** The version is in the path. A new version gets a new prefix and the old one stays. The headers
\`Deprecation\` and \`Sunset\` announce the end of a version.
`.trim();

/**
 * Removes what zod adds by itself: the bounds of safe integers and the long pattern of a date. Restores examples, defaults
 * and bounds of transformed fields, which zod drops.
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

/** Capitalises request headers for readers; validation uses Node's lower-case names. */
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

/**
 * Describes in OpenAPI 3.1 every route that has a tag and is registered later. The description comes from the routes' own
 * schemas; `openApiDocument` serves it.
 */
export async function describeApi(app: FastifyInstance, { publicUrl }: { publicUrl: string }): Promise<void> {
  const options: FastifyDynamicSwaggerOptions = {
    hideUntagged: true,
    transform,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tallyport API',
        version: '1.0.0',
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
        contact: { name: 'The operators of this listing', url: publicUrl },
      },
      servers: [{ url: publicUrl }],
      tags: [
        { name: 'votes', description: 'Cast votes, check whether a player has voted, and read the votes.' },
        { name: 'server', description: "Report the server's status; read its figures and reviews." },
      ],
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', description: 'A token of the server named in the path.' },
        },
      },
      security: [{ token: [] }],
    },
  };
  await app.register(swagger, options);
}

/** The document of an application that is ready. */
export function readApiDocument(app: FastifyInstance): object {
  return nameSchemas(structuredClone(app.swagger()));
}

/** Serves `/openapi.json`. It needs no token. */
export async function openApiDocument(app: FastifyInstance): Promise<void> {
  let document: object | undefined;
  app.get('/openapi.json', { schema: { hide: true } }, async () => {
    document ??= readApiDocument(app);
    return document;
  });
}
