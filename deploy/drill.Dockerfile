# Image in which drills run (docs/backups.md). From the checkout: docker build -f deploy/drill.Dockerfile -t sitefleet-drill deploy
# Where the engine can limit them, add --memory 4g and --pids-limit 300 to SITEFLEET_DRILL_CONTAINER.
FROM debian:12-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends php-cgi php-curl php-gd php-intl php-mbstring php-mysql php-xml php-zip \
      mariadb-server-core mariadb-client-core \
 && rm -rf /var/lib/apt/lists/*
