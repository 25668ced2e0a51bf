# Runs the bots of a folder that is mounted at /bots; docs/deploy.md has the commands. `npm run container` repeats these
# steps without Docker. RUN lines therefore name no absolute paths.
# The version of Node is that of package.json, with glibc, on which the tests run.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY . .
RUN npm ci --no-audit --no-fund
RUN npm pack --silent && mv sluice-*.tgz sluice.tgz && mkdir empty

FROM node:24.21.0-bookworm-slim
WORKDIR /opt/sluice
COPY --from=build /build/sluice.tgz sluice.tgz
RUN npm install --no-audit --no-fund --omit=dev --omit=peer ./sluice.tgz && npm cache clean --force && rm sluice.tgz
# A new volume takes owner and mode from this folder, which is the only one that a container writes.
COPY --from=build --chown=1000:1000 --chmod=0700 /build/empty /bots/data
# The locks of wallet and key are in the volume too, so two containers on one volume exclude each other.
ENV XDG_STATE_HOME=/bots/data/state
# Settings of glibc: freed memory goes back to the system, which makes the process a fifth smaller.
ENV MALLOC_ARENA_MAX=2
ENV MALLOC_MMAP_THRESHOLD_=262144
ENV MALLOC_TRIM_THRESHOLD_=262144
WORKDIR /bots
USER 1000:1000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=60s --timeout=15s --start-period=60s CMD ["node", "/opt/sluice/node_modules/sluice/bin/sluice.js", "status", "--json"]
ENTRYPOINT ["node", "/opt/sluice/node_modules/sluice/bin/sluice.js"]
CMD ["run", "bots.yaml", "--json"]
