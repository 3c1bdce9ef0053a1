type Taken = { limited?: object; headers: Record<string, string> };

/** Discord's limits of requests: 5 in 2 s of a webhook, 30 in a minute of its channel, 50 in a second of an address. */
export function discordBuckets(now: () => Date): (webhookId: string) => Taken {
  const windows = new Map<string, { used: number; resetAt: number }>();
  /** How many milliseconds until the window's end, and how many requests it has left. */
  function use(name: string, most: number, windowMs: number) {
    const at = now().getTime();
    const known = windows.get(name);
    const window = known && known.resetAt > at ? known : { used: 0, resetAt: at + windowMs };
    windows.set(name, window);
    window.used += 1;
    return { isOver: window.used > most, left: Math.max(most - window.used, 0), ms: window.resetAt - at };
  }

  return (webhookId) => {
    const all = use('all', 50, 1_000);
    if (all.isOver) return limitedFor(all.ms, 'global', {});
    const channel = use(`channel of ${webhookId}`, 30, 60_000);
    const own = use(webhookId, 5, 2_000);
    const headers = {
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': String(own.left),
      'x-ratelimit-reset': String((now().getTime() + own.ms) / 1_000),
      'x-ratelimit-reset-after': String(own.ms / 1_000),
      'x-ratelimit-bucket': '80c17d2f203122d936070c88c8d10f33',
    };
    if (own.isOver) return limitedFor(own.ms, 'user', headers);
    return channel.isOver ? limitedFor(channel.ms, 'shared', headers) : { headers };
  };
}

function limitedFor(ms: number, scope: 'user' | 'shared' | 'global', headers: Taken['headers']): Taken {
  const isGlobal = scope === 'global';
  return {
    limited: { message: 'You are being rate limited.', retry_after: ms / 1_000, global: isGlobal },
    headers: {
      ...headers,
      'retry-after': String(Math.ceil(ms / 1_000)),
      'x-ratelimit-scope': scope,
      ...(isGlobal ? { 'x-ratelimit-global': 'true' } : {}),
    },
  };
}
