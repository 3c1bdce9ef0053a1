/** A game server that fetches its votes, without an open port. Ends with Ctrl-C. */
import { createTallyport } from '@tallyport/client';

const { TALLYPORT_URL = '', SERVER_ID = '', DELIVERY_TOKEN = '' } = process.env;
const tallyport = createTallyport({ url: TALLYPORT_URL, server_id: SERVER_ID, token: DELIVERY_TOKEN });

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
process.once('SIGTERM', () => stop.abort());

/** The rewarded votes: their ids, and how often each was sent again. A plugin stores them for 30 days. */
const rewarded = new Map<string, number>();

for await (const { vote_id, username, sending, resends } of tallyport.takeDeliveries({
  signal: stop.signal,
})) {
  if ((rewarded.get(vote_id) ?? -1) < resends) console.log(`Reward ${username} (sending ${sending}).`);
  rewarded.set(vote_id, resends);
}
