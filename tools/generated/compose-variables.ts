/** The variables of docker-compose.yml that `.env` may set, each with a value and what it is for. */
export const COMPOSE_VARIABLES: Record<string, { value: string; description?: string }> = {
  MONGODB_PASSWORD: {
    value: '',
    description:
      'The passwords of its MongoDB and Valkey: `openssl rand -hex 24` each; no characters that a URL needs to escape.',
  },
  VALKEY_PASSWORD: { value: '' },
  MONGODB_DATABASE: {
    value: 'tallyport',
    description: 'The database; a restore needs another one (docs/operating/when-something-is-wrong.md).',
  },
  NODE_IMAGE: {
    value: 'node:24-slim',
    description:
      'Other images than the newest of their series, preferably by digest: mongo:8@sha256:… (see docs/operating/install.md).',
  },
  MONGODB_IMAGE: { value: 'mongo:8' },
  VALKEY_IMAGE: { value: 'valkey/valkey:9' },
  PUBLISH: {
    value: '127.0.0.1:3000',
    description:
      'Where the web process is reached, on this machine alone by default. A range of ports is for more than one web process (docker compose up -d --scale web=2).',
  },
  WEB_MEMORY: {
    value: '768m',
    description: 'Limits of memory. A large listing needs more for MongoDB.',
  },
  WORKER_MEMORY: { value: '1g' },
  SCHEDULER_MEMORY: { value: '512m' },
  MONGODB_MEMORY: { value: '2g' },
  ENABLE_IPV6: {
    value: 'true',
    description: 'IPv6 for visitors. A second installation on one machine needs another subnet.',
  },
  IPV6_SUBNET: { value: 'fd7a:115c:2026::/64' },
};
