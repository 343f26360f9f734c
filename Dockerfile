# syntax=docker/dockerfile:1

# Build: the native addon needs a C++ compiler unless a release brings it along, the running service does not.
FROM oven/bun:1.4.5-debian AS build
WORKDIR /app
# Dependencies change rarely, so they are installed in a separate layer. The addon is built later.
COPY package.json bun.lock bunfig.toml ./
COPY patches ./patches
COPY scripts ./scripts
RUN TESSERA_SETUP=1 bun install --frozen-lockfile --production
COPY native ./native
# Without a compiler the build takes the addon of native/prebuilt, if it is there and of these sources.
RUN bun native/build.ts \
    || (apt-get update \
    && apt-get install -y --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/* \
    && bun native/build.ts)
RUN rm -rf native/build/objects native/prebuilt
COPY src ./src
COPY workers ./workers
COPY client/src ./client/src
# The handbook is the content of the demo project, and the guides are pages of the service.
COPY fixtures/docs ./fixtures/docs
COPY docs/*.md ./docs/
COPY LICENSE* README.md tessera ./

# Run: Bun, the service and its dependencies, under an unprivileged account.
FROM oven/bun:1.4.5-slim
RUN useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin tessera \
    && install -d -o tessera -g tessera /data
WORKDIR /app
COPY --from=build /app ./
# Checks that the addon finds its libraries in this smaller image.
RUN bun -e "await import('/app/native/index.ts')"
# The dependencies and the addon are complete, so ./tessera prepares nothing.
ENV TESSERA_PREPARED=1 HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
# As in scripts/run.sh.
ENV MIMALLOC_PURGE_DELAY=1000
USER tessera
VOLUME /data
EXPOSE 3000
# Ready means that the database answers and the indexes have caught up.
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s --retries=3 \
    CMD ["bun", "-e", "const { ok } = await fetch(`http://127.0.0.1:${process.env.PORT}/readyz`); process.exit(ok ? 0 : 1)"]
STOPSIGNAL SIGTERM
ENTRYPOINT []
CMD ["bun", "src/main.ts"]
