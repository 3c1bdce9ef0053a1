import { COOLDOWN_HOURS } from '../votes/cast/cooldown.ts';

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

export function describeQuickStart(publicUrl: string): string {
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
