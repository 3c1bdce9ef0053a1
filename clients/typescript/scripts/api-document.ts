import Fastify, { type onRequestHookHandler } from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import { describeApi, readApiDocument } from '../../../src/api/openapi.ts';
import { compileSerializer } from '../../../src/api/serializer.ts';
import { apiV1 } from '../../../src/api/v1/api-v1.ts';
import { readApi } from '../../../src/api/v1/read/read-api.ts';
import type { AppDeps } from '../../../src/process/app-deps.ts';
import type { Metrics } from '../../../src/process/metrics.ts';

/** The default address in the generated client. Each listing has its own address. */
export const EXAMPLE_URL = 'https://listing.example';

/**
 * The OpenAPI document as `/openapi.json` serves it, made without a database: the routes are registered and never
 * called. A test compares it with the served document.
 */
export async function apiDocument(publicUrl: string = EXAMPLE_URL): Promise<object> {
  const app = Fastify({ logger: false });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(compileSerializer);
  await describeApi(app, { publicUrl });
  const { pathname } = new URL(publicUrl);
  const prefix = `${pathname === '/' ? '' : pathname}/api/v1`;
  const parts = {
    deps: {} as AppDeps,
    restoreGate: ((_request, _reply, done) => done()) satisfies onRequestHookHandler,
    countRead: async () => undefined,
  };
  await app.register(readApi, { prefix, ...parts });
  await app.register(apiV1, {
    prefix: `${prefix}/servers/:server_id`,
    ...parts,
    metrics: {} as Metrics,
    claimCalls: () => null,
  });
  await app.ready();
  const document = readApiDocument(app);
  await app.close();
  return document;
}
