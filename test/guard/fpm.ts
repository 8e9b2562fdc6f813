/**
 * Runs PHP as most hosts do, PHP-FPM behind a web server, instead of PHP's own: when `SITEFLEET_TEST_FPM` names a php-fpm.
 * `SITEFLEET_TEST_FRONT` is the web server: `nginx`, or one that keeps pages for ten minutes, `nginx-cache` or `apache-cache`.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const FPM = process.env.SITEFLEET_TEST_FPM || '';
const FRONT = process.env.SITEFLEET_TEST_FRONT || 'nginx';

interface FpmPlace {
  /** Holds sockets, settings and temporary files. */
  folder: string;
  /** The WordPress folder. */
  root: string;
  port: number;
  workers: number;
  /** Arguments of PHP: `-n`, extensions, settings. */
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  user: { uid?: number; gid?: number };
}

/** Where PHP listens for nginx. */
export function socketOf(folder: string): string {
  return join(folder, 'fpm', 'php.sock');
}

/** Starts both, each as leader of its own process group. */
export function startFpm({ folder, root, port, workers, args, env, user }: FpmPlace): ChildProcess[] {
  const own = join(folder, 'fpm');
  for (const made of [own, join(own, 'pages')]) {
    mkdirSync(made, { recursive: true });
    if (user.uid !== undefined && user.gid !== undefined) chownSync(made, user.uid, user.gid);
  }
  const pool = `[global]
error_log = ${own}/fpm.log
[www]
listen = ${socketOf(folder)}
pm = static
pm.max_children = ${workers}
clear_env = no
`;
  writeFileSync(join(own, 'fpm.conf'), pool);
  const options = { stdio: 'ignore', detached: true, env, ...user } as const;
  const php = spawn(FPM, [...args, '-F', '-y', join(own, 'fpm.conf')], options);
  const conf = join(own, 'server.conf');
  const site = { own, socket: socketOf(folder), root, port };
  if (FRONT === 'apache-cache') {
    writeFileSync(conf, apache(site));
    return [php, spawn('apache2', ['-D', 'FOREGROUND', '-d', own, '-f', conf], options)];
  }
  writeFileSync(conf, nginx(site, FRONT === 'nginx-cache'));
  return [php, spawn('nginx', ['-p', own, '-e', join(own, 'nginx.log'), '-c', conf], options)];
}

interface Front {
  own: string;
  socket: string;
  root: string;
  port: number;
}

/** What WordPress' own handbook leaves out of a page cache. */
const NOT_KEPT = `
    set $skip 0;
    if ($request_method = POST) { set $skip 1; }
    if ($query_string != "") { set $skip 1; }
    if ($request_uri ~* "/wp-admin/|/xmlrpc.php|wp-.*.php|/feed/|index.php|sitemap(_index)?.xml") { set $skip 1; }
    if ($http_cookie ~* "comment_author|wordpress_[a-f0-9]+|wp-postpass|wordpress_no_cache|wordpress_logged_in") { set $skip 1; }`;

/** Pages are kept unless WordPress says no; with a query only where it says for how long. */
function apache({ own, socket, root, port }: Front): string {
  const modules = ['mpm_prefork', 'authz_core', 'mime', 'dir', 'rewrite', 'proxy', 'proxy_fcgi', 'cache', 'cache_disk'];
  return `${modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
Listen 127.0.0.1:${port}
ServerName 127.0.0.1
PidFile ${own}/apache.pid
DefaultRuntimeDir ${own}
ErrorLog ${own}/apache.log
TypesConfig /dev/null
AddType text/css .css
AddType application/javascript .js
DocumentRoot ${root}
DirectoryIndex index.php
CacheEnable disk /
CacheRoot ${own}/pages
CacheDefaultExpire 600
CacheIgnoreNoLastMod On
CacheQuickHandler Off
<Directory />
  Options FollowSymLinks
  AllowOverride None
  Require all granted
  RewriteEngine On
  RewriteBase /
  RewriteCond %{REQUEST_FILENAME} !-f
  RewriteCond %{REQUEST_FILENAME} !-d
  RewriteRule . /index.php [L]
</Directory>
<FilesMatch "\\.php$">
  SetHandler "proxy:unix:${socket}|fcgi://localhost"
</FilesMatch>
`;
}

function nginx({ own, socket, root, port }: Front, caches: boolean): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${own}/${kind};`,
  );
  const parameters = {
    SCRIPT_FILENAME: '$document_root$fastcgi_script_name',
    SCRIPT_NAME: '$fastcgi_script_name',
    QUERY_STRING: '$query_string',
    REQUEST_METHOD: '$request_method',
    CONTENT_TYPE: '$content_type',
    CONTENT_LENGTH: '$content_length',
    REQUEST_URI: '$request_uri',
    DOCUMENT_ROOT: '$document_root',
    SERVER_PROTOCOL: '$server_protocol',
    REMOTE_ADDR: '$remote_addr',
    SERVER_ADDR: '$server_addr',
    SERVER_PORT: '$server_port',
    SERVER_NAME: '$host',
  };
  return `daemon off; worker_processes 1; pid ${own}/nginx.pid;
events { worker_connections 128; }
http {
  access_log off; types { text/css css; application/javascript js; } default_type application/octet-stream;
  ${temporary.join(' ')}
  ${caches ? `fastcgi_cache_path ${own}/pages keys_zone=pages:1m; fastcgi_cache_key "$request_method$host$request_uri";` : ''}
  server {
    listen 127.0.0.1:${port}; root ${root}; index index.php; client_max_body_size 64m;${caches ? NOT_KEPT : ''}
    location / { try_files $uri $uri/ /index.php?$args; }
    location ~ \\.php$ {
      fastcgi_pass unix:${socket}; fastcgi_read_timeout 300;
      ${caches ? 'fastcgi_cache pages; fastcgi_cache_valid 200 301 10m; fastcgi_cache_bypass $skip; fastcgi_no_cache $skip;' : ''}
      ${Object.entries(parameters)
        .map(([name, value]) => `fastcgi_param ${name} ${value};`)
        .join('\n      ')}
    }
  }
}
`;
}
