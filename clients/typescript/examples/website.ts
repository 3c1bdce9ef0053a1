/**
 * A website that receives votes from the listing and rewards each vote once. It reads `VOTE_SECRET` and `PORT` from the
 * environment: `VOTE_SECRET=whsec_… PORT=8080 node website.ts`.
 */
import { createServer } from 'node:http';
import { type ForwardedVote, receiveWebhook } from '@tallyport/client';

const { PORT = '8080', VOTE_SECRET = '' } = process.env;
if (!VOTE_SECRET) throw new Error('Set VOTE_SECRET: the page “Vote listener” shows it once.');
const MOST_BYTES = 65_536;

const rewarded = new Set<string>(); // In a real website: a table of your database, with a unique index.

function reward({ vote_id, username }: ForwardedVote): void {
  if (rewarded.has(vote_id)) return;
  rewarded.add(vote_id);
  console.log(`${username} voted`);
}

const site = createServer(async (request, response) => {
  try {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) {
      body += piece;
      if (body.length > MOST_BYTES) return response.writeHead(413).end();
    }
    const answer = await receiveWebhook(VOTE_SECRET, { headers: request.headers, body }, reward);
    return response.writeHead(answer.status).end(answer.body);
  } catch (error) {
    console.error(error);
    return response.writeHead(500).end();
  }
});
site.listen(Number(PORT), '127.0.0.1', () => console.log('listening', site.address()));
