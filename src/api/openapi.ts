import { createHash } from 'node:crypto';
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type Compressed, compressOnce, encodedFor } from '../http/compressed.ts';
import { isKnownTag } from '../http/if-none-match.ts';
import { once } from '../platform/once.ts';
import { apiIntroduction } from './description.ts';

const FRESH_SECONDS = 300;

/** Zod adds bounds of safe integers and patterns of dates, and leaves out the `meta` of transformed fields. */
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
        description: apiIntroduction(publicUrl),
        license: { name: 'MIT', identifier: 'MIT' },
        contact: { name: 'The operators of this listing', url: publicUrl },
      },
      servers: [{ url: publicUrl }],
      tags: [
        { name: 'votes', description: 'Cast votes, check whether a player has voted, and read the votes.' },
        { name: 'deliveries', description: 'A game server fetches its votes, without an open port.' },
        { name: 'listing', description: 'What the public pages show, for other programs, without a token.' },
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
