/**
 * A chat bot's two commands: casts a vote for a player, and shows the players with the most votes. It reads
 * `TALLYPORT_URL`, `SERVER_ID` and `API_TOKEN` from the environment: `node bot.ts Steve`.
 */
import { createTallyport, TallyportError } from '@tallyport/client';

const { TALLYPORT_URL = '', SERVER_ID = '', API_TOKEN = '' } = process.env;
const tallyport = createTallyport({ url: TALLYPORT_URL, server_id: SERVER_ID, token: API_TOKEN });

/** The bot's answer to `!vote Steve`. */
async function vote(player: string): Promise<string> {
  try {
    const { monthly_votes } = await tallyport.vote(player);
    return `Thank you, ${player}! That is vote ${monthly_votes} of this month.`;
  } catch (error) {
    if (!(error instanceof TallyportError)) throw error;
    if (error.code === 'cooldown') return `${player} can vote again at ${error.next_vote_at}.`;
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

const [, , player] = process.argv;
if (!player) throw new Error('Name a player: node bot.ts Steve');
console.log(await vote(player));
console.log(await top());
