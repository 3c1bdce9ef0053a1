/** Casts a vote for a player and shows the best voters, as a chat bot does: `node bot.ts Steve`. */
import { createTallyport, TallyportError } from '@tallyport/client';

const { TALLYPORT_URL = '', SERVER_ID = '', API_TOKEN = '' } = process.env;
const tallyport = createTallyport({ url: TALLYPORT_URL, serverId: SERVER_ID, token: API_TOKEN });

/** The bot's answer to `!vote Steve`. */
async function vote(player: string): Promise<string> {
  try {
    const { monthlyVotes } = await tallyport.vote(player);
    return `Thank you, ${player}! That is vote ${monthlyVotes} of this month.`;
  } catch (error) {
    if (!(error instanceof TallyportError)) throw error;
    if (error.code === 'cooldown') return `${player} can vote again at ${error.nextVoteAt?.toISOString()}.`;
    if (error.code === 'malformed') return error.message;
    console.error(error);
    return 'Voting does not work at the moment. Try again later.';
  }
}

/** The bot's answer to `!top`. */
async function top(): Promise<string> {
  const { month, voters } = await tallyport.topVoters({ limit: 3 });
  return [`Top voters of ${month}:`, ...voters.map(({ username, votes }) => `${votes} × ${username}`)].join(
    '\n',
  );
}

console.log(await vote(process.argv[2] ?? ''));
console.log(await top());
