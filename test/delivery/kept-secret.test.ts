import { describe, expect, it } from 'vitest';
import { CredentialError, secretContext } from '../../src/delivery/credentials.ts';
import { rotateSecret, setHttpListener } from '../../src/delivery/http/http-listeners.ts';
import { openListener } from '../../src/delivery/send-vote.ts';
import { createSecretBox, UnsealError } from '../../src/platform/secrets.ts';
import { deliveryBenchesOfFile } from '../support/delivering.ts';

const deliveryBench = deliveryBenchesOfFile();

describe('a listener that is set again without its key or token', () => {
  it('keeps the stored key or token, and takes all other settings', async () => {
    const { deps, set, listener } = await deliveryBench();
    const changed = await set({ secret: null, host: 'play.example.org', port: 8_193, serviceName: 'Other' });
    expect(openListener(deps.secrets, changed)).toEqual({
      protocol: 'votifier-v2',
      host: 'play.example.org',
      port: 8_193,
      serviceName: 'Other',
      token: listener.token,
    });
  });

  it('is refused and unchanged if it has no key or token of this protocol', async () => {
    const { deps, serverId, set } = await deliveryBench();
    const before = await deps.listeners.findOne({ serverId });
    await expect(set({ protocol: 'votifier-v1', secret: null })).rejects.toThrow(CredentialError);
    expect(await deps.listeners.findOne({ serverId })).toEqual(before);
    await deps.listeners.deleteOne({ serverId });
    await expect(set({ secret: null })).rejects.toThrow('The token is empty.');
  });

  it('keeps the key or token that another change stored at the same moment', async () => {
    const { deps, serverId, set } = await deliveryBench();
    await Promise.all([set({ secret: 'brand-new-token-1' }), set({ secret: null, port: 8_193 })]);
    await set({ secret: null, port: 8_194 });
    const stands = await deps.listeners.findOne({ serverId });
    expect(stands && openListener(deps.secrets, stands)).toMatchObject({ token: 'brand-new-token-1' });
  });

  it('is sealed again, so that an earlier SECRET_KEY is no longer needed; an unreadable secret is an error', async () => {
    const { deps, serverId, set, listener } = await deliveryBench();
    const { SECRET_KEY } = deps.config;
    const newer = createSecretBox('another-key-for-tests-0123456789-abcdef', SECRET_KEY);
    const stranger = createSecretBox('a-third-key-for-tests-0123456789-abcdef', undefined);
    const own = deps.secrets;
    deps.secrets = stranger;
    await expect(set({ secret: null })).rejects.toThrow(UnsealError);
    deps.secrets = newer;
    await set({ secret: null });
    const stands = await deps.listeners.findOne({ serverId });
    expect(() => own.open(stands?.sealedSecret ?? '', secretContext({ serverId }))).toThrow(UnsealError);
    expect(stands && openListener(newer, stands)).toMatchObject({ token: listener.token });
  });
});

it('a secret is rotated once for one revision of its listener, however often the rotation is requested', async () => {
  const { deps, serverId } = await deliveryBench();
  const settings = { url: 'https://example.org/votes', serviceName: 'x' };
  const { listener } = await setHttpListener(deps, serverId, settings, 'test');
  const ask = () => rotateSecret(deps, serverId, 'test', listener.revision);
  const made = await Promise.all([ask(), ask(), ask()]);
  expect(made.filter((one) => one !== null)).toHaveLength(1);
  expect(await ask()).toBeNull();
});
