import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

it('a listing is paused, changed, shown and resumed', async () => {
  const { slug } = await cli.addServer('Pauses');
  const until = new Date(Date.now() + 86_400_000).toISOString();
  const paused = await cli.run(`server pause ${slug} --until ${until} --json --text`, 'Season over');
  expect(paused).toMatchObject({
    code: 0,
    json: { slug, paused_until: until, pause_text: 'Season over', is_new: true },
  });
  expect((await cli.run(`server pause ${slug}`)).stdout).toMatch(
    /^Changed the pause of pauses: since \S+Z, without a date\.\n$/,
  );
  expect((await cli.run(`server show ${slug}`)).stdout).toMatch(/Status: +unknown: the listing is paused/);
  expect((await cli.run(`server show ${slug}`)).stdout).toMatch(/Paused: +since \S+Z, without a date/);
  expect(await cli.run(`server show ${slug} --json`)).toMatchObject({
    json: { status: 'unknown', paused_since: expect.any(String), paused_until: null, pause_text: null },
  });
  expect((await cli.run('server list')).stdout).toMatch(/ paused /);
  expect(await cli.run(`server resume ${slug} --json`)).toMatchObject({
    code: 0,
    json: { slug, paused_since: expect.any(String) },
  });
  expect(await cli.run(`server resume ${slug} --json`)).toMatchObject({
    code: 1,
    json: { code: 'not-paused' },
  });
  expect(await cli.run(`server show ${slug} --json`)).toMatchObject({ json: { paused_since: null } });
});

it.each([
  ['--until soon', 'It must be a day such as 2026-11-20 or a time such as'],
  ['--until 2020-01-01', 'must be later than now, and at most 366 days away'],
])('server pause with %s is refused', async (options, reason) => {
  const { slug } = await cli.addServer('Refused');
  expect((await cli.run(`server pause ${slug} ${options}`)).stderr).toContain(reason);
});

it('the third pause in 30 days is refused', async () => {
  const { slug } = await cli.addServer('Thrice');
  for (const _ of [1, 2]) {
    await cli.run(`server pause ${slug}`);
    await cli.run(`server resume ${slug}`);
  }
  expect(await cli.run(`server pause ${slug} --json`)).toMatchObject({
    code: 1,
    json: { code: 'too-many-pauses' },
  });
});
