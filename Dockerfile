# The product without its tests and tools; API and worker are the same image.

FROM python:3.12.13-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 UV_NO_CACHE=1
RUN python -m pip install uv==0.13.8 && python -m venv /opt/jeroboam
WORKDIR /source
COPY pyproject.toml requirements.lock ./
# What pyproject.toml asks for, in the versions and with the hashes of the lock file; the lock
# file's other half is for tests only.
RUN uv pip install --python /opt/jeroboam/bin/python --only-binary :all: --compile-bytecode \
    --constraints requirements.lock --requirements pyproject.toml
COPY README.md LICENSE ./
COPY jeroboam jeroboam
RUN uv pip install --python /opt/jeroboam/bin/python --no-deps --compile-bytecode .

FROM python:3.12.13-slim-bookworm
RUN groupadd --system --gid 10001 jeroboam \
    && useradd --system --uid 10001 --gid jeroboam --no-create-home --home-dir /var/lib/jeroboam \
        --shell /usr/sbin/nologin jeroboam \
    && install --directory --mode=0700 --owner=jeroboam --group=jeroboam /var/lib/jeroboam
COPY --from=build /opt/jeroboam /opt/jeroboam
COPY deploy/probe.py /usr/local/bin/probe
ENV PATH=/opt/jeroboam/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    JEROBOAM_STATE_DIRECTORY=/var/lib/jeroboam
USER 10001:10001
WORKDIR /var/lib/jeroboam
VOLUME /var/lib/jeroboam
EXPOSE 9511
CMD ["jeroboam", "serve"]
