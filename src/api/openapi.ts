import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { nameSchemas } from './named-schemas.ts';

const DESCRIPTION = `
The API of a listed game server: plugins and websites cast votes, report the server's status and read what the
listing shows.

**Tokens.** Every call carries \`Authorization: Bearer <token>\`. A token belongs to one server; its owner makes it
in that server's dashboard, section "API Access". A revoked token is refused within 5 seconds everywhere. A
missing, malformed, revoked or expired token, a token of another server, and an unknown or removed server all
give the same 401: nothing tells an outsider which servers exist. A server's id never changes and is never used
again.

**Errors.** Every error body is \`{"error": "<sentence for a human>"}\`; a 429 adds the moment from which the next
request is accepted. They are looked for in this order: 404 (no such path), 405, 401, 415, 413, 400, 422, 429;
500 is a fault of ours; 503, with \`Retry-After\`, means overload, a process that is stopping or whose clock is wrong,
or a database that does not answer within 5 seconds. A client that treats every 5xx as "retry later" is right. Before
a request is understood it may also be answered with 400, 408, 417 or 431, in the same shape. Every answer to a request
that could be read carries \`X-Request-Id\`: name it when you report a fault.

**Requests.** A body is JSON in UTF-8 with \`Content-Type: application/json\`, at most 16 KiB. Unknown fields and
query parameters are ignored; \`null\` in an optional field counts as absent; lengths count Unicode code points;
an unpaired surrogate is 400; a parameter given twice is 400.

**Times** are ISO 8601 in UTC with milliseconds. A month is a UTC calendar month, a day a UTC day.

**Limits.** Casting a vote and reporting a status have limits, shown in \`RateLimit\`, \`RateLimit-Policy\` and
\`Retry-After\`. The other calls have none.

**Messages.** The API sends no webhooks and no other events to its clients.

**Versions.** The version is in the path. A new version is a new prefix beside the old one; \`Deprecation\` and
\`Sunset\` headers announce an end.
`.trim();

/**
 * Keeps what readers want and drops what zod adds by itself: its bounds of safe integers and its long pattern of
 * a date. Examples, defaults and bounds of a field that is transformed would get lost.
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

/** Names the request headers as users write them; validation sees them as Node does, in lower case. */
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
 * Describes every route registered later that has a tag, in OpenAPI 3.1 out of the routes' own schemas, and
 * serves the description at `/openapi.json`.
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
        { name: 'votes', description: 'Cast votes and ask whether a player has voted.' },
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

/** `/openapi.json`, for machines. Nobody needs a token to read it. */
export async function openApiDocument(app: FastifyInstance): Promise<void> {
  let document: object | undefined;
  app.get('/openapi.json', { schema: { hide: true } }, async () => {
    document ??= nameSchemas(structuredClone(app.swagger()));
    return document;
  });
}
