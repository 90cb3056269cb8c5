# Holdfast in a container. Two stages: the first installs, the second has only what runs.
# Nothing is compiled but Holdfast's own pure Python wheel; every library comes as a wheel, for x86-64 and ARM.

FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN python -m venv /opt/holdfast \
 && /opt/holdfast/bin/pip install --no-cache-dir --only-binary=:all: --constraint constraints.txt ".[postgres,s3]"

FROM python:3.11-slim
# llama.cpp, the embedded model, needs OpenMP; nothing else is missing in the slim image.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libgomp1 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin holdfast \
 && install --directory --owner holdfast --group holdfast --mode 700 /data
COPY --from=build /opt/holdfast /opt/holdfast

# Inside a container only 0.0.0.0 can be reached from outside. Holdfast refuses to listen there until there is
# a password or a key: `docker compose run --rm holdfast password`.
ENV PATH=/opt/holdfast/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HOLDFAST_HOME=/data \
    HOLDFAST_HOST=0.0.0.0
WORKDIR /data
USER holdfast
VOLUME /data
EXPOSE 11435

# Asked without urllib's proxies: whatever the environment says, this machine is not behind one.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import http.client, os; c = http.client.HTTPConnection('127.0.0.1', int(os.environ.get('HOLDFAST_PORT', 11435)), timeout=4); c.request('GET', '/health'); raise SystemExit(c.getresponse().status != 200)"]

ENTRYPOINT ["holdfast"]
CMD ["serve"]
