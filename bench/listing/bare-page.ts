/**
 * The bare peer of pages.ts, in its own process: Fastify that sends bodies from memory, without anything else. The parent
 * sends a body, and it answers every path with it.
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
