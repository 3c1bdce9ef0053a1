/** A website that receives votes from the listing and rewards each once: `PORT=8080 VOTE_SECRET=whsec_… node website.ts`. */
import { createServer } from 'node:http';
import { type ForwardedVote, receiveWebhook } from '@tallyport/client';

const { PORT = '8080', VOTE_SECRET = '' } = process.env;
const MOST_BYTES = 65_536;

const rewarded = new Set<string>(); // A table of your database, with a unique index.

function reward({ voteId, username }: ForwardedVote): void {
  if (rewarded.has(voteId)) return;
  rewarded.add(voteId);
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
