/**
 * The bare server with which pages.ts compares, in its own process: Fastify that sends bodies from memory and does
 * nothing else. The parent sends it a body, and it answers every path with this body.
 */
import Fastify from 'fastify';

let body = Buffer.alloc(0);
const app = Fastify();
app.get('/*', async (_request, reply) => reply.type('text/html; charset=utf-8').send(body));
await app.listen({ host: '127.0.0.1', port: 0 });
process.on('message', ({ html }: { html: string }) => {
  body = Buffer.from(html);
  process.send?.('ready');
});
process.on('disconnect', () => process.exit());
process.send?.(app.server.address());
