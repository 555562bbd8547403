# The image of Kobo: one static binary, certificates of authorities, zone data, and nothing else.
#
#   docker build -t kobo --build-arg VERSION=1.2.3 --build-arg COMMIT="$(git rev-parse HEAD)" .
#
# It runs as user 65532 and writes only to /var/lib/kobo, so run it with --read-only.
FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
ARG COMMIT=
RUN CGO_ENABLED=0 GOTOOLCHAIN=local go build -mod=readonly -trimpath -buildvcs=false \
    -ldflags "-s -w -buildid= -X main.release=$VERSION -X main.commit=$COMMIT" -o /kobo ./cmd/kobo
RUN deploy/rootfs.sh /kobo /rootfs

FROM scratch
COPY --from=build /rootfs/ /
ENV ZONEINFO=/usr/share/zoneinfo.zip \
    KOBO_LISTEN=:8080 KOBO_ADMIN_LISTEN=:8081 KOBO_METRICS_LISTEN=:8082 \
    KOBO_EPOCH_FILE=/var/lib/kobo/epoch
USER 65532:65532
WORKDIR /var/lib/kobo
VOLUME /var/lib/kobo
EXPOSE 8080 8081 8082
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s --retries=3 CMD ["/kobo", "ready"]
ENTRYPOINT ["/kobo"]
CMD ["serve"]
