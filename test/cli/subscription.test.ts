import { afterAll, beforeAll, expect, it } from 'vitest';
import { WEBHOOK_ADDRESS, WEBHOOK_TOKEN } from '../support/fake-discord.ts';
import { startFakeHttpListener } from '../support/fake-http-listener.ts';
import { type Cli, openCli, tallyport } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli({ ALLOWED_PRIVATE_RANGES: '127.0.0.0/8' });
});
afterAll(() => cli.close());

it('a subscription is added, tested, changed, rotated, paused, resumed and removed', async () => {
  const { slug } = await cli.addServer('Events');
  const program = await startFakeHttpListener();
  const url = `http://127.0.0.1:${program.port}/events`;
  const add = await cli.run(
    `subscription add ${slug} --url ${url} --kinds milestone --json --name`,
    'Raid bot',
  );
  expect(add).toMatchObject({
    code: 0,
    json: { type: 'http', name: 'Raid bot', kinds: ['milestone'], url, state: 'nothing-sent', waiting: 0 },
  });
  const { id, secret } = add.json as { id: string; secret: string };
  expect(secret).toMatch(/^whsec_/);
  expect(await cli.run(`subscription test ${slug} ${id} --json`)).toMatchObject({
    code: 0,
    json: { result: 'sent', status: 204 },
  });
  expect((await cli.run(`subscription attempts ${slug} ${id}`)).stdout).toContain('milestone (test)');
  expect(await cli.run(`subscription change ${slug} ${id} --kinds all --json`)).toMatchObject({
    json: { name: 'Raid bot', kinds: expect.arrayContaining(['vote.counted', 'milestone']) },
  });
  expect(await cli.run(`subscription pause ${slug} ${id} --json`)).toMatchObject({
    json: { state: 'paused' },
  });
  const resumed = await cli.run(`subscription resume ${slug} ${id} --json`);
  expect(resumed).toMatchObject({ json: { paused_at: null } });
  const rotated = await cli.run(`subscription rotate ${slug} ${id} --json`);
  expect((rotated.json as { secret: string }).secret).not.toBe(secret);
  const listed = await cli.run(`subscription list ${slug} --json`);
  expect(listed.stdout).not.toContain('whsec_');
  expect(await cli.run(`subscription replay ${slug} ${id} evt_none --json`)).toMatchObject({
    code: 1,
    json: { code: 'event-not-found' },
  });
  expect((await cli.run(`subscription remove ${slug} ${id}`)).stdout).toContain(
    '0 waiting events will not be sent.',
  );
  expect(await cli.run(`subscription test ${slug} ${id} --json`)).toMatchObject({
    code: 1,
    json: { code: 'subscription-not-found' },
  });
});

it('the address of a webhook is read from standard input and not printed', async () => {
  const { slug } = await cli.addServer('Discord');
  const words = `subscription add ${slug} --name news --kinds goal.reached --json --webhook -`.split(' ');
  const added = await tallyport(words, { env: cli.env, input: `${WEBHOOK_ADDRESS}\n` });
  expect(added).toMatchObject({ code: 0, json: { type: 'discord', webhook_ending: '1234' } });
  const { id } = added.json as { id: string };
  const list = await cli.run(`subscription list ${slug}`);
  expect(list.stdout).toContain('Discord …1234');
  expect(added.stdout + list.stdout).not.toContain(WEBHOOK_TOKEN);
  expect(await cli.run(`subscription rotate ${slug} ${id} --json`)).toMatchObject({
    json: { code: 'no-http-subscription' },
  });
});

it('a live status is set, shown and removed', async () => {
  const { slug } = await cli.addServer('Live');
  expect(await cli.run(`live-status show ${slug} --json`)).toMatchObject({
    json: { code: 'no-live-status' },
  });
  const set = await cli.run(`live-status set ${slug} --webhook ${WEBHOOK_ADDRESS} --json`);
  expect(set).toMatchObject({ code: 0, json: { state: 'not-posted', webhook_ending: '1234', reason: null } });
  expect(await cli.run(`live-status restart ${slug} --json`)).toMatchObject({
    json: { code: 'not-stopped' },
  });
  expect((await cli.run(`live-status show ${slug}`)).stdout).not.toContain(WEBHOOK_TOKEN);
  expect(await cli.run(`live-status remove ${slug} --json`)).toMatchObject({ json: { removed: true } });
});

it.each([
  ['--name x --kinds all', 'Give either --url or --webhook.'],
  ['--name x --kinds votes --url https://example.org', 'It must be all, or one or more of vote.counted'],
  ['--name x --kinds all --url https://example.org --template y', '--template is for Discord.'],
])('subscription add with %s is refused', async (options, reason) => {
  expect((await cli.run(`subscription add any ${options}`)).stderr).toContain(reason);
});
