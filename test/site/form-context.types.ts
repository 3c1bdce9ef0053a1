import type { FastifyInstance } from 'fastify';
import { ANYONE, OPERATOR, OWNER, SIGNED_IN } from '../../src/site/route-options.ts';
import { formRoute } from '../../src/site/shared/form-route.ts';

/**
 * What `run` of a form is given, by the access of the form. This function is never called: `tsc` fails if the line under
 * an `@ts-expect-error` compiles.
 */
export function contexts(app: FastifyInstance): void {
  formRoute(app, {
    path: '/a',
    access: OWNER,
    run: ({ user, by, server, path }) => path(`${user._id}${by}${server._id}`),
  });
  formRoute(app, { path: '/b', access: OPERATOR, run: ({ user, by }) => `${user._id}${by}` });
  // @ts-expect-error -- only the routes of owners have a server
  formRoute(app, { path: '/c', access: SIGNED_IN, run: ({ server }) => `${server._id}` });
  // @ts-expect-error -- visitors need not be signed in
  formRoute(app, { path: '/d', access: ANYONE, run: ({ by }) => by });
}
