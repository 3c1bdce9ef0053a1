# To use another image or pin a digest: docker build --build-arg NODE_IMAGE=node:24-slim@sha256:…
ARG NODE_IMAGE=node:24-slim
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# Some packages name development tools as optional peers. npm installs those too if they are among our own (75 MB).
RUN npm pkg delete devDependencies && npm ci --omit=dev
# Source maps and declarations of types are for developers, too (42 MB). Node.js reads neither.
RUN find node_modules -type f \( -name '*.[jt]s.map' -o -name '*.[cm][jt]s.map' -o -name '*.d.ts' -o -name '*.d.[cm]ts' \) -delete

# A checkout may be readable by its owner alone (umask 077). The image's user must read its files.
FROM ${NODE_IMAGE} AS files
WORKDIR /app
COPY package.json LICENSE ./
COPY src src
COPY workers workers
# What owners download under “Connect”. It needs no Java here.
COPY relay/tallyport-relay.jar relay/
# Pages below /docs.
COPY docs/claims.md docs/errors.md docs/events.md docs/fetching.md docs/goals.md docs/pausing.md docs/read-api.md docs/relay.md docs/
RUN chmod -R a+rX .

FROM ${NODE_IMAGE}
# Node resolves host names on this thread pool. With the default of 4 a few dead name servers delay every listener.
ENV NODE_ENV=production HOST=0.0.0.0 UV_THREADPOOL_SIZE=64 NODE_OPTIONS=--max-semi-space-size=8
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=files /app ./
USER node
EXPOSE 3000
# One image, three processes: `node src/web.ts`, `node workers/main.ts`, `node workers/scheduler.ts`.
# Each handles SIGTERM and exits within 20 s; web first continues for SHUTDOWN_DELAY_MS.
CMD ["node", "src/web.ts"]
