import { defineMessage, type Text } from '../../language/t.ts';

/** One API call as a curl command. */
type CurlLine = { title: Text; line: string };

/**
 * The API calls for a server as curl commands. `address` is the URL of the API for this server, without a slash at its
 * end; `token` is the token itself, or `$TOKEN`.
 */
export function curlLines(address: string, token: string): CurlLine[] {
  // The quotes are double quotes, so that the shell expands `$TOKEN`.
  const call = (endpoint: string, ...rest: string[]) =>
    [`curl "${address}/${endpoint}"`, `-H "Authorization: Bearer ${token}"`, ...rest].join(' \\\n  ');
  const json = (body: object) => ['-H "Content-Type: application/json"', `-d '${JSON.stringify(body)}'`];
  return [
    { title: defineMessage('Cast a vote'), line: call('vote', ...json({ username: 'Steve' })) },
    { title: defineMessage('Check whether a player has voted'), line: call('check-vote?username=Steve') },
    { title: defineMessage('List votes'), line: call('votes?limit=10') },
    { title: defineMessage('List the top voters of this month'), line: call('top-voters?month=current') },
    {
      title: defineMessage('Report the status'),
      line: call('status', ...json({ online_players: 12, max_players: 64 })),
    },
    { title: defineMessage('Get the server’s statistics'), line: call('info') },
    { title: defineMessage('List reviews'), line: call('reviews?page=1&limit=10') },
  ];
}
