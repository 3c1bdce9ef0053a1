import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Cli, openCli } from './tallyport.ts';

let cli: Cli;

beforeAll(async () => {
  cli = await openCli();
});
afterAll(() => cli.close());

it('a goal is set, shown with its rounds and removed', async () => {
  const { slug } = await cli.addServer('Goals');
  expect(await cli.run(`goal show ${slug} --json`)).toMatchObject({ code: 1, json: { code: 'no-goal' } });
  const set = await cli.run(`goal set ${slug} --votes 500 --period week --json --text`, 'A party');
  expect(set).toMatchObject({ code: 0, json: { target: 500, period: 'week', votes: 0, text: 'A party' } });
  expect((await cli.run(`goal set ${slug} --votes 500 --period week`)).stdout).toMatch(
    /^goals: 0 of 500 votes of this week, set \S+Z, reached 0 times\.\n$/,
  );
  expect((await cli.run(`goal show ${slug}`)).stdout).toContain('It was not reached yet.');
  expect(await cli.run(`goal show ${slug} --json`)).toMatchObject({ json: { text: null, rounds: [] } });
  expect(await cli.run(`goal remove ${slug} --json`)).toMatchObject({
    json: { target: 500, period: 'week' },
  });
  expect(await cli.run(`goal remove ${slug}`)).toMatchObject({
    code: 1,
    stderr: 'goals has no vote goal.\n',
  });
});

it.each([
  ['--votes 0 --period day', 'It must be a whole number, 1 to 10000000.'],
  ['--votes 5 --period year', 'Allowed choices are day, week, month, rolling.'],
  ['--votes 5', "Required option '--period <period>' not specified"],
])('goal set with %s is refused', async (options, reason) => {
  expect((await cli.run(`goal set any ${options}`)).stderr).toContain(reason);
});
