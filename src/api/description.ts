import { SECRET_OVERLAP_MS } from '../delivery/http/http-listeners.ts';
import { BODY_KIB, DONE_KIB } from '../http/request-limits.ts';
import { DELIVERY_EXPIRES_HOURS, RESENDABLE_DAYS } from '../listeners/delivery-limits.ts';
import { HOUR, SECOND } from '../platform/clock.ts';
import { OPERATION_TIMEOUT_MS } from '../platform/mongo.ts';
import { DEFAULTS } from '../platform/settings/definitions.ts';
import { REVOKED_WITHIN_SECONDS } from '../servers/authenticate-token.ts';
import { COOLDOWN_HOURS } from '../votes/cast/cooldown.ts';
import { DEAR, READS } from './v1/open-reads.ts';

/** They read `SERVER_ID` and `API_TOKEN` from the environment. `api`: `https://listing.example/api/v1`. */
const quickStarts = (api: string) => [
  {
    language: 'curl',
    fence: 'sh',
    code: `
curl "${api}/servers/$SERVER_ID/vote" \\
  -H "Authorization: Bearer $API_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"username": "Steve"}'`,
  },
  {
    language: 'JavaScript (Node 20 and newer)',
    fence: 'js',
    code: `
const { SERVER_ID, API_TOKEN } = process.env;
const response = await fetch(\`${api}/servers/\${SERVER_ID}/vote\`, {
  method: 'POST',
  headers: {
    'Authorization': \`Bearer \${API_TOKEN}\`,
    'Content-Type': 'application/json',
    'Idempotency-Key': crypto.randomUUID(),
  },
  body: JSON.stringify({ username: 'Steve' }),
  signal: AbortSignal.timeout(10_000),
});
const answer = await response.json();
if (response.ok) console.log(\`Votes this month: \${answer.monthly_votes}\`);
else console.log(\`\${answer.code}: \${answer.error}\`);`,
  },
  {
    language: 'Python',
    fence: 'python',
    code: `
import json, os, urllib.error, urllib.request, uuid

request = urllib.request.Request(
    f"${api}/servers/{os.environ['SERVER_ID']}/vote",
    data=json.dumps({"username": "Steve"}).encode(),
    headers={
        "Authorization": f"Bearer {os.environ['API_TOKEN']}",
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),
    },
)
try:
    with urllib.request.urlopen(request, timeout=10) as response:
        print("Votes this month:", json.load(response)["monthly_votes"])
except urllib.error.HTTPError as error:
    answer = json.load(error)
    print(f"{answer['code']}: {answer['error']}")`,
  },
  {
    language: 'PHP',
    fence: 'php',
    code: `
<?php
$answer = json_decode(file_get_contents(
    '${api}/servers/' . getenv('SERVER_ID') . '/vote',
    context: stream_context_create(['http' => [
        'method' => 'POST',
        'header' => [
            'Authorization: Bearer ' . getenv('API_TOKEN'),
            'Content-Type: application/json',
            'Idempotency-Key: ' . bin2hex(random_bytes(16)),
        ],
        'content' => json_encode(['username' => 'Steve']),
        'timeout' => 10,
        'ignore_errors' => true,
    ]]),
), true);
if (isset($answer['success'])) echo "Votes this month: {$answer['monthly_votes']}\\n";
else echo "{$answer['code']}: {$answer['error']}\\n";`,
  },
  {
    language: 'Java (11 and newer)',
    fence: 'java',
    code: `
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.UUID;

public class Vote {
    public static void main(String[] args) throws Exception {
        var address = "${api}/servers/" + System.getenv("SERVER_ID") + "/vote";
        var request = HttpRequest.newBuilder(URI.create(address))
            .header("Authorization", "Bearer " + System.getenv("API_TOKEN"))
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", UUID.randomUUID().toString())
            .timeout(Duration.ofSeconds(10))
            .POST(HttpRequest.BodyPublishers.ofString("{\\"username\\": \\"Steve\\"}"))
            .build();
        var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        System.out.println(response.statusCode() + " " + response.body());
    }
}`,
  },
];

function describeQuickStart(publicUrl: string): string {
  const programs = quickStarts(`${publicUrl.replace(/\/+$/, '')}/api/v1`).map(
    ({ language, fence, code }) => `**${language}**\n\n\`\`\`${fence}\n${code.trim()}\n\`\`\``,
  );
  return [
    '# Quick start',
    'Each of these programs casts a vote for the player Steve. Set `SERVER_ID` and `API_TOKEN` first: both are on the page "API access" of your server.',
    ...programs,
    `A vote whose answer was lost may have been counted: repeat the call with the same \`Idempotency-Key\`, and it is counted once. The next vote of the same player is refused with the code \`cooldown\` for ${COOLDOWN_HOURS} hours.`,
  ].join('\n\n');
}

/** The introduction of the OpenAPI document, in Markdown. */
export const apiIntroduction = (publicUrl: string) =>
  `
The API of a listed game server. Plugins and websites cast votes, report the server's status and read the data that the
listing shows.

${describeQuickStart(publicUrl)}

# Requests and answers

**Tokens.** Calls of a server's owner need the header \`Authorization: Bearer <token>\`. What the public pages show is read
without a token, see "Reading without a token"; so are \`goal\` and \`addresses\`, while the server is listed. A token belongs to one server; its owner makes
it in the server's dashboard, section "API access": open [Your servers](${publicUrl}/dashboard), choose the server, then "API
access". The token is shown once. A revoked token is refused within ${REVOKED_WITHIN_SECONDS} seconds. A missing, malformed,
revoked or expired token, a token of another server, and an unknown or removed server all give the same 401, so that an
outsider cannot find out which servers exist. A server's id never changes and is never reused.

**Errors.** Every error body is \`{"error": "<sentence for a human>", "code": "<name>", "doc_url": "<address>"}\`. A code never changes and is for
programs; a later version may add codes. \`doc_url\` leads to the code in [the list of all codes](${publicUrl}/docs/errors). Each answer below lists its codes. A 429 also contains the time from which the next
request is accepted. Errors are checked in this order: 404 (no such path), 405, 401, 403, 415, 413, 400, 422, 429. 500 is an
error of the listing. 503, with \`Retry-After\`, means overload, a process that is stopping or has a wrong clock, or a
database that does not answer within ${OPERATION_TIMEOUT_MS / SECOND} seconds. A client should retry later after every 5xx. A request that cannot be
parsed may also get 400, 408 (\`request-timeout\`), 417 (\`expectation-failed\`) or 431 (\`headers-too-large\`), in the same
shape; an unknown path gets 404 (\`not-found\`), another method 405 (\`method-not-allowed\`). Every answer to a request that could be parsed has the
header \`X-Request-Id\`: include it when you report a problem.

**Requests.** A body is JSON in UTF-8 with \`Content-Type: application/json\`, at most ${BODY_KIB} KiB (\`deliveries/done\`: ${DONE_KIB} KiB). Unknown fields and query
parameters are ignored. \`null\` in an optional field counts as absent. Lengths are in Unicode code points. An unpaired
surrogate and a parameter that is given twice are 400.

**Times** are ISO 8601 in UTC with milliseconds. Months and days are UTC calendar months and UTC days.

**Limits.** Casting a vote and reporting a status have limits, which the headers \`RateLimit\`, \`RateLimit-Policy\` and
\`Retry-After\` show; so have taking votes, and calls without a token (${READS.times} a minute for a network). The other calls have none.

**Messages.** The live figures aside, the API sends no webhooks and no other events to its clients. A server's owner may set a vote listener,
which is described below.

**Versions.** The version is in the path. A new version gets a new prefix and the old one stays. The headers
\`Deprecation\` and \`Sunset\` announce the end of a version.

# Reading without a token

\`GET /api/v1/servers\` reads the ranking, lists and searches, and \`GET /api/v1/servers/{slug}\` a server. Its history, its
live figures and, by its slug, its reviews are below it. The games and the totals have paths of their own. Scripts of every
website may call them. All of them together have one limit for a network: ${READS.times} calls a minute, of which a search and a
history by hours take ${DEAR}. The listing's operators may switch them off: then they are 404 with the code \`disabled\`.

# Votes at a URL

A server whose game has no Votifier can receive its votes at a URL. Its owner sets an HTTP listener in the dashboard,
section "Vote listener", and gets a secret, which is shown once. The listing then posts each accepted vote there:

\`\`\`json
{"type":"vote.cast","data":{"vote_id":"01998a3e-7e4b-7000-8000-0123456789ab","server_id":"0123456789abcdef01234567","username":"Steve","voted_at":"2026-11-21T08:00:00.000Z"}}
\`\`\`

**Challenge.** Before the first vote, and later from time to time, the listing posts a signed challenge. The answer repeats
it with any 2xx status, as \`{"challenge": "…"}\` or as plain text. Until then the votes wait.

\`\`\`json
{"type":"listener.challenge","data":{"server_id":"0123456789abcdef01234567","challenge":"x6PSX4PZ8dNT4qN9i3sD0gSOmXG0c2nD0mZ5V4vJ2jQ"}}
\`\`\`

**Signature.** Challenges and votes are signed as Standard Webhooks describes (headers \`webhook-id\`,
\`webhook-timestamp\`, \`webhook-signature\`); there are libraries for many languages. \`webhook-id\` is the vote's id, the
same in every attempt. Remember the ids that you have rewarded: a vote whose answer was lost is posted again. After the
secret is replaced, votes carry both signatures for ${SECRET_OVERLAP_MS / HOUR} hours.

**Answer.** Any 2xx status is an acknowledgement, within ${Number(DEFAULTS.LISTENER_TIMEOUT_MS) / SECOND} seconds. Redirects are not followed. Other answers are tried
again for ${DELIVERY_EXPIRES_HOURS} hours, and \`Retry-After\` is respected up to an hour. A test vote has the username \`TallyportTest\`.

# Fetching votes

A game server without an open port may take its votes instead: its owner chooses that it fetches them, and makes a delivery
token (\`tpd_…\`), which may only call \`deliveries/take\` and \`deliveries/done\`. A take leases votes, and waits for some
if it is asked to; \`done\` says what became of them. If a lease ends without a word, the vote may have arrived, and is
handed out again with a higher \`sending\`. Remember the ids of votes for ${RESENDABLE_DAYS} days, and do not hand a vote over twice.

# Claims

A plugin may also ask the listing for votes. It checks whether a player voted in the last ${COOLDOWN_HOURS} hours and claims the vote
before it rewards the player. However many calls come at once, exactly one claims a vote. A new plugin calls
\`POST /api/v1/servers/{id}/votes/claim\` with an API token or a claim key (\`tpc_…\`), which may only check and claim votes
of one server. Its owner makes the key in the dashboard under "Connect" or "API access"; "Connect" also has the
configurations of known plugins. Excluded and quarantined votes answer as no vote, imported votes as claimed. The owner
chooses under "Vote listener" whether votes are pushed, claimed or both; with both, each vote is rewarded twice.

The contracts of known plugins answer at \`/api/\` with plain text and status 200. The claim key is in the address, so
treat it as less secret than a token.

| Call to \`/api/?…&key=KEY&username=NAME\` (or \`steamid=ID\`) | Answer |
|---|---|
| \`object=votes&element=claim\` | \`0\` no vote, \`1\` voted, \`2\` claimed |
| \`action=post&object=votes&element=claim\` | \`1\` claimed now, \`0\` not |
| \`action=custom&object=plugin&element=reward\` | \`1\` claimed now, \`2\` claimed before, \`0\` no vote |
| \`action=status\` | \`0\` no vote, \`1\` voted, \`2\` claimed |
| \`action=claim\` | \`1\` reward now, \`2\` claimed before, \`0\` no vote |
| a wrong key | \`Error: server key not found\` |

Four more contracts are those of minecraft-server.net (\`/api/\` with \`action=checkVote\` or \`setClaimed\` and \`player\`),
minecraftlist.org (\`/api/v1/check/KEY/NAME\`, \`/api/v1/claim/KEY/NAME\`), minecraftservers.biz
(\`/api/votes/check/KEY/NAME/\`, \`/api/votes/claim/KEY/NAME/\`) and top-server.net (\`/api/v1/vote/check\`,
\`/api/v1/vote/claim\` with \`key\` and \`player\`).
`.trim();
