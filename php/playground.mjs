/**
 * Runs the PHP of WordPress Playground (PHP compiled to WebAssembly) on a copy of a site, in a process of its own: prepares and
 * loads its database, asks it, and asks for a page.
 *
 * Arguments: folder of the package `@wp-playground/cli`, folder of the copy, wanted version of PHP, task. The task reads stdin,
 * and its answer is JSON on stdout.
 */

import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';

const [playground, folder, wanted, task] = process.argv.slice(2);
/** Bytes of statements that are loaded at once. */
const PORTION = 4 * 1024 * 1024;
/** A limit on the address space would be none: WebAssembly reserves far more than it uses. */
const MOST_MEMORY = 3 * 1024 ** 3;
/** Where the site's is not known, or not there. */
const USUAL = '8.3';
/** Playground has no programs, and what tries to start one would end PHP. */
const DISABLED = 'exec,passthru,shell_exec,system,popen,proc_open,mail,link,symlink,dl,putenv';
const FOLDERS = { '/site': 'site', '/db': 'db', '/tmp': 'tmp', '/sqlite': join('run', 'sqlite') };

const TASKS = { look, load, query, ask };

const packageOf = createRequire(join(playground, 'package.json'));
const { loadNodeRuntime, createNodeFsMountHandler } = packageOf('@php-wasm/node');
const { PHP, setPhpIniEntries, SupportedPHPVersions } = packageOf('@php-wasm/universal');

new Worker(
  `setInterval(() => process.memoryUsage.rss() > ${MOST_MEMORY} && process.kill(process.pid, 'SIGKILL'), 100)`,
  { eval: true },
).unref();
const answer = JSON.stringify(await TASKS[task]());
process.stdout.write(answer, () => process.exit(0));

/** PHP with the folders of the copy, and nothing else. */
async function start(version, settings = {}) {
  const options = { extensions: ['intl'], emscriptenOptions: { processId: 1 } };
  const php = new PHP(await loadNodeRuntime(version, options));
  cutOff();
  for (const [inside, outside] of Object.entries(FOLDERS)) {
    php.mkdir(inside);
    await php.mount(inside, createNodeFsMountHandler(join(folder, outside)));
  }
  await setPhpIniEntries(php, { display_errors: '0', disable_functions: DISABLED, ...settings });
  return php;
}

/** Otherwise PHP could connect to whatever this machine reaches: Playground brings a proxy for that. */
function cutOff() {
  const refuse = () => {
    throw new Error('A copy has no network.');
  };
  net.Socket.prototype.connect = refuse;
  net.Server.prototype.listen = refuse;
  dns.lookup = refuse;
  dns.promises.lookup = async () => refuse();
  syncBuiltinESMExports();
}

async function evaluated(php, code) {
  const { text: json } = await php.run({
    code: `<?php ${code} echo json_encode($answer, JSON_INVALID_UTF8_SUBSTITUTE);`,
  });
  return JSON.parse(json);
}

/** Unpacks the translator of MySQL's statements, and tells which PHP a page will have. */
async function look() {
  const php = await start(SupportedPHPVersions.includes(wanted) ? wanted : USUAL);
  php.writeFile('/tmp/sqlite.zip', readFileSync(join(playground, 'sqlite-database-integration.zip')));
  return evaluated(
    php,
    `$zip = new ZipArchive; $zip->open('/tmp/sqlite.zip');
    for ($at = 0; $at < $zip->numFiles; $at++) {
      $name = $zip->getNameIndex($at);
      $path = '/sqlite/' . preg_replace('#^[^/]*/#', '', $name);
      if (substr($name, -1) === '/') @mkdir($path, 0700, true); else file_put_contents($path, $zip->getFromIndex($at));
    }
    unlink('/tmp/sqlite.zip');
    $answer = ['php' => PHP_VERSION, 'database' => 'SQLite ' . SQLite3::version()['versionString'],
      'extensions' => array_map('strtolower', get_loaded_extensions())];`,
  );
}

async function load() {
  const php = await start(USUAL);
  const code = codeOf('sitefleet_load(file_get_contents("/tmp/portion.sql"))');
  let [parts, length] = [[], 0];
  const carryOut = async (statements) => {
    php.writeFile('/tmp/portion.sql', statements);
    return evaluated(php, code);
  };
  for await (const part of process.stdin) {
    parts.push(part);
    length += part.length;
    if (length < PORTION) continue;
    const all = Buffer.concat(parts);
    // A text in a statement has no line breaks.
    const end = all.lastIndexOf(';\n') + 2;
    const refused = await carryOut(all.subarray(0, end));
    if (refused !== null) return refused;
    [parts, length] = [[all.subarray(end)], all.length - end];
  }
  return carryOut(Buffer.concat(parts));
}

async function query() {
  const php = await start(USUAL);
  php.writeFile('/tmp/query.sql', await text(process.stdin));
  return evaluated(php, codeOf('sitefleet_query(file_get_contents("/tmp/query.sql"))'));
}

function codeOf(call) {
  return `require '/sqlite/sitefleet.php'; $answer = ${call};`;
}

async function ask() {
  const { url, headers, server } = JSON.parse(await text(process.stdin));
  const php = await start(SupportedPHPVersions.includes(wanted) ? wanted : USUAL, {
    ...{ open_basedir: '/site:/tmp:/db:/sqlite:/internal', memory_limit: '512M', max_execution_time: '175' },
    ...{ log_errors: '1', error_log: '/tmp/php.log', html_errors: '0', expose_php: '0' },
  });
  const request = { scriptPath: '/site/index.php', relativeUri: url, method: 'GET', headers, $_SERVER: server };
  // It throws where PHP ended with an error, and has the answer nevertheless.
  const response = await php.run(request).catch((error) => {
    if (error.response === undefined) throw error;
    return error.response;
  });
  const { httpStatusCode, headers: answered, text: body } = response;
  return { status: httpStatusCode, content_type: answered['content-type']?.[0] ?? '', body };
}
