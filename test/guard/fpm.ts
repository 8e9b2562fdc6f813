/**
 * Runs PHP as most hosts do, PHP-FPM behind nginx, instead of PHP's own web server: when `SITEFLEET_TEST_FPM` names a
 * php-fpm.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const FPM = process.env.SITEFLEET_TEST_FPM || '';

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
  mkdirSync(own, { recursive: true });
  if (user.uid !== undefined && user.gid !== undefined) chownSync(own, user.uid, user.gid);
  const pool = `[global]
error_log = ${own}/fpm.log
[www]
listen = ${socketOf(folder)}
pm = static
pm.max_children = ${workers}
clear_env = no
`;
  writeFileSync(join(own, 'fpm.conf'), pool);
  writeFileSync(join(own, 'nginx.conf'), nginx(own, socketOf(folder), root, port));
  const options = { stdio: 'ignore', detached: true, env, ...user } as const;
  return [
    spawn(FPM, [...args, '-F', '-y', join(own, 'fpm.conf')], options),
    spawn('nginx', ['-p', own, '-e', join(own, 'nginx.log'), '-c', join(own, 'nginx.conf')], options),
  ];
}

function nginx(own: string, socket: string, root: string, port: number): string {
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
  server {
    listen 127.0.0.1:${port}; root ${root}; index index.php; client_max_body_size 64m;
    location / { try_files $uri $uri/ /index.php?$args; }
    location ~ \\.php$ {
      fastcgi_pass unix:${socket}; fastcgi_read_timeout 300;
      ${Object.entries(parameters)
        .map(([name, value]) => `fastcgi_param ${name} ${value};`)
        .join('\n      ')}
    }
  }
}
`;
}
