/** One call of the API as it is typed into a terminal. */
type CurlLine = { title: string; line: string };

/**
 * The five endpoints of a server as lines for a terminal.
 *
 * @param address - of the server's API, without a slash at its end
 * @param token - the token itself, or `$TOKEN`
 */
export function curlLines(address: string, token: string): CurlLine[] {
  // In double quotes, so that the shell puts the token of a variable in.
  const call = (endpoint: string, ...rest: string[]) =>
    [`curl "${address}/${endpoint}"`, `-H "Authorization: Bearer ${token}"`, ...rest].join(' \\\n  ');
  const json = (body: object) => ['-H "Content-Type: application/json"', `-d '${JSON.stringify(body)}'`];
  return [
    { title: 'Cast a vote', line: call('vote', ...json({ username: 'Steve' })) },
    { title: 'See whether a player has voted', line: call('check-vote?username=Steve') },
    { title: 'Report the status', line: call('status', ...json({ online_players: 12, max_players: 64 })) },
    { title: 'Read the server and its figures', line: call('info') },
    { title: 'Read the reviews', line: call('reviews?page=1&limit=10') },
  ];
}
