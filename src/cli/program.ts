/** The commands. Each loads only what it needs. */

import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { Preset } from '../../schemas/approval.js';
import { readConfig } from '../runtime/config/config.js';
import type { Config } from '../runtime/config/types.js';
import type { CallOptions } from './call.js';
import type { Shell } from './completion.js';
import { setCommand } from './current-command.js';
import type { Settle } from './demo.js';
import { type JsonFlag, keepStdoutClean, problemText, say } from './output.js';

keepStdoutClean();

interface Listening {
  host?: string;
  port?: number;
  json?: boolean;
}

const program = new Command('sitefleet')
  .description('Manages a fleet of WordPress sites that run MainWP Child.')
  .version('0.1.0')
  .showHelpAfterError('(add --help for the options)')
  .configureOutput({ writeErr: (text) => process.stderr.write(text) })
  .hook('preAction', (_program, command) =>
    setCommand({ name: nameOf(command), arguments: command.args, options: command.opts() }),
  );

program
  .command('demo')
  .description('try it out: run a simulated fleet, connected and served; leaves nothing behind')
  .option('--sites <n>', 'how many sites', wholeNumber(1, 10_000), 25)
  .addOption(hostOption())
  .addOption(portOption())
  .option('--json', 'one line of JSON with addresses and logins, once ready')
  .action(async (options: Listening & { sites: number }) => {
    const { demo } = await import('./demo.js');
    const settle: Settle = (overrides, standards) =>
      readConfig(undefined, { ...listening(options), ...overrides }, standards);
    await demo(settle, { sites: options.sites, json: options.json === true });
  });

program
  .command('serve')
  .description('serve MCP, operations and REST over HTTP, and run the schedule')
  .addOption(hostOption())
  .addOption(portOption())
  .option('--json', 'one line of JSON with addresses, and logins on the first start, once ready')
  .action(async (options: Listening) => {
    const { serve } = await import('./serve.js');
    await serve(readConfig(undefined, listening(options)), { json: options.json === true });
  });

program
  .command('work')
  .description('run queued jobs and the schedule only; any number of processes may share a database')
  .option('--json', 'one line of JSON, once ready')
  .action(async (options: JsonFlag) => {
    const { work } = await import('./work.js');
    await work(readConfig(), { json: options.json === true });
  });

program
  .command('stdio')
  .description('serve MCP on stdin and stdout, for assistants on this machine')
  .option(
    '--toolsets <names>',
    'only these groups of tools, comma-separated; lean: a few tools that find and run the others',
  )
  .option('--readonly', 'offer only tools that change nothing')
  .action(async (options: { toolsets?: string; readonly?: boolean }) => {
    const { stdio } = await import('./stdio.js');
    await stdio(readConfig(), options);
  });

program
  .command('ops')
  .description('list the operations')
  .option('--json', 'print JSON, with an example of each')
  .action(async (options: JsonFlag) => (await import('./call.js')).listOperations(options));

program
  .command('call')
  .description('run one operation; "call <operation> --help" shows its input')
  .argument('[operation]', 'for example list-sites-v1; "ops" lists them')
  .argument('[input]', 'JSON object, or - for stdin', '{}')
  .option('--json', 'print JSON, even on a terminal')
  .option('--table', 'print lists as tables and errors as sentences, even without a terminal')
  // Replaced by our own, which can be about the operation.
  .helpOption(false)
  .option('-h, --help', 'show help for the command or the operation')
  .action(async (name: string | undefined, input: string, options: CallOptions & { help?: boolean }, self: Command) => {
    if (name === undefined) {
      if (options.help !== true) self.error('error: name an operation; "sitefleet ops" lists them');
      return self.outputHelp();
    }
    const { call, helpOfOperation } = await import('./call.js');
    await (options.help === true ? helpOfOperation(name) : call(readConfig(), name, input, options));
  });

program
  .command('brief')
  .description('show what needs attention now, worst first, and what was done')
  .option('--since <time>', 'ISO 8601; default: 24 hours ago')
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag & { since?: string }) =>
    (await import('./brief.js')).showBrief(readConfig(), options),
  );

program
  .command('doctor')
  .description('check everything a working service needs; exit code 1 when something fails')
  .option('--site <site>', 'site to contact: its id, or part of its name or address; default: the first one')
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag & { site?: string }) => (await import('./doctor.js')).doctor(readConfig(), options));

program
  .command('completion')
  .description('print a script that completes commands and operations in a shell')
  .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
  .action(async (shell: Shell) => (await import('./completion.js')).printCompletion(shell, program));

program
  .command('migrate')
  .description('migrate the database to the newest schema')
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag) => (await import('./database.js')).migrateNow(readConfig(), options));

program
  .command('check')
  .description('check the database; exit code 1 when something is wrong')
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag) => (await import('./database.js')).check(readConfig(), options));

program
  .command('backup')
  .description('back up the database to a new file, even while the server runs')
  .argument('[file]', 'default: a new file in SITEFLEET_BACKUP_DIR')
  .option('--json', 'print JSON')
  .action(async (file: string | undefined, options: JsonFlag) =>
    (await import('./database.js')).backupTo(readConfig(), file, options),
  );

program
  .command('restore')
  .description('replace the database with a backup, keeping the old one beside it; stop the server first')
  .argument('<file>')
  .option('--force', 'even when a server seems to be running')
  .option('--json', 'print JSON')
  .action(async (file: string, options: JsonFlag & { force?: boolean }) =>
    (await import('./restore.js')).restore(readConfig(), file, options),
  );

program
  .command('rotate-key')
  .description('encrypt all stored secrets with a new key; stop the server first')
  .option('--old-key-stdin', 'use SITEFLEET_SECRET_KEY as the new key and read the old one from stdin')
  .option('--lost-key', 'the old key is lost: remove everything it encrypted; the sites must be added again')
  .option('--force', 'even when a server seems to be running')
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag & { oldKeyStdin?: boolean; lostKey?: boolean; force?: boolean }) => {
    const [{ rotateKey }, { text }] = await Promise.all([import('./rotate-key.js'), import('node:stream/consumers')]);
    await rotateKey(readConfig(), {
      ...options,
      ...(options.oldKeyStdin === true ? { oldKey: await text(process.stdin) } : {}),
    });
  });

const imports = program
  .command('import')
  .description('import sites from another dashboard, another Sitefleet, or a list');
imports
  .command('file', { isDefault: true })
  .description('import the sites of a fleet file or a CSV list; "import <file>" is enough')
  .argument('<file>', 'fleet.json, sites.csv, or - for stdin')
  .option('--dry-run', 'show what would be imported; change and contact nothing')
  .option('--parallel', 'on trial: only read the sites until "import finish"')
  .option('--password-file <file>', 'CSV: password for all rows that have none; - for stdin')
  .option('--passphrase-file <file>', 'passphrase the file was encrypted with; - for stdin')
  .option('--json', 'print JSON')
  .action(async (file: string, options) => (await import('./import.js')).importFrom(readConfig(), file, options));
imports
  .command('mainwp')
  .description('print a PHP program that exports a MainWP Dashboard for this Sitefleet only')
  .action(async () => (await import('./import.js')).printExporter(readConfig()));
imports
  .command('key')
  .description('print the key for which another Sitefleet encrypts its export')
  .action(async () => (await import('./import.js')).printImportKey(readConfig()));
imports
  .command('finish')
  .description('end the trial: from now on this Sitefleet may change the sites')
  .option('--dry-run', 'only list the sites on trial')
  .option('--json', 'print JSON')
  .action(async (options) => (await import('./import.js')).finishImport(readConfig(), options));

program
  .command('export')
  .description('export all sites with their keys, encrypted for another Sitefleet, or a CSV list')
  .argument('[file]', 'default: standard output')
  .option('--csv', 'export addresses, names, logins and tags, without secrets')
  .option('--to <pem>', 'encrypt for the key that "import key" printed on the other side')
  .option('--passphrase-file <file>', 'encrypt with a passphrase; - for stdin')
  .action(async (file: string | undefined, options) =>
    (await import('./export.js')).exportFleet(readConfig(), file, options),
  );

program
  .command('receipt')
  .description('signed receipts of runs of updates')
  .command('verify')
  .description(
    'check that no receipt was changed, in a file from GET /v2/runs/{run_id}/receipts; exit code 1 when one was',
  )
  .argument('<file>')
  .option('--key <id>', 'they must be signed with this key, not just with the one they name')
  .option('--json', 'print JSON')
  .action(async (file: string, options: JsonFlag & { key?: string }) =>
    (await import('./receipt.js')).verifyReceipts(file, options),
  );

const log = program.command('log').description('the log of everything done through Sitefleet');
log
  .command('verify')
  .description('check that no entry was changed, added or removed; exit code 1 when one was')
  .option('--head <id:hash>', 'an entry noted earlier, as the brief shows it; the log must contain it')
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag & { head?: string }) => (await import('./log.js')).verify(readConfig(), options));
log
  .command('export')
  .description('print the log as JSON lines, oldest first')
  .option('--ocsf', 'as events of the Open Cybersecurity Schema Framework')
  .option('--after <id>', 'only entries with a higher id', wholeNumber(0, Number.MAX_SAFE_INTEGER), 0)
  .action(async (options: { ocsf?: boolean; after: number }) =>
    (await import('./log.js')).exportLog(readConfig(), options),
  );

const approvals = program.command('approvals').description('changes that wait for approval');
approvals
  .command('list')
  .description('list the requests that are waiting')
  .option('--all', 'include those that were decided')
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag & { all?: boolean }) =>
    (await import('./approvals.js')).listRequests(readConfig(), options),
  );
for (const [name, state, about] of [
  ['approve', 'approved', 'let a change happen once, when its call is repeated'],
  ['refuse', 'refused', 'refuse a change'],
] as const)
  approvals
    .command(name)
    .description(about)
    .argument('<id>')
    .option('--note <text>', 'a note to the one who asked', '')
    .option('--json', 'print JSON')
    .action(async (id: string, options: JsonFlag & { note: string }) =>
      (await import('./approvals.js')).decide(readConfig(), id, state, options),
    );
approvals
  .command('rules')
  .description('show or set which changes wait for approval')
  .addArgument(
    new Argument('[preset]', 'open: none; careful: far-reaching ones; strict: all').choices([
      'open',
      'careful',
      'strict',
    ]),
  )
  .addOption(
    new Option(
      '--in-assistants <on-or-off>',
      'whether requests may be answered in the assistant that asked; that a person answers there cannot be checked',
    ).choices(['on', 'off']),
  )
  .option('--json', 'print JSON')
  .action(async (preset: Preset | undefined, options: JsonFlag & { inAssistants?: 'on' | 'off' }) =>
    (await import('./approvals.js')).rules(readConfig(), preset, options),
  );

const backups = program.command('backups').description('the repository of the backups of sites');
backups
  .command('recovery-sheet')
  .description('print the key of the repository, without which no backup can be read')
  .action(async () => (await import('./backups.js')).recoverySheet(readConfig()));
backups
  .command('use-key')
  .description('take over the repository of another installation, with the key from its recovery sheet')
  .argument('<file>', 'a file with the key; "-" reads it from stdin')
  .action(async (file: string) => (await import('./backups.js')).useKey(readConfig(), file));
backups
  .command('use-place')
  .description('have backups in the configured folder or bucket from now on, when it is another one than before')
  .action(async () => (await import('./backups.js')).usePlace(readConfig()));

backups
  .command('export')
  .description('write a backup as a tar archive to stdout: its files, one SQL file, and how to restore them by hand')
  .argument('<backup_id>')
  .action(async (id: string) => (await import('./backups.js')).exportArchive(readConfig(), id));
backups
  .command('check')
  .description('check what is stored, and name the backups that damage affects; exit code 1 when something is wrong')
  .option(
    '--sample <percent>',
    'read only this share of the packs; sizes and lists are always checked',
    (text: string) => wholeNumber(1, 100)(text.replace(/%$/, '')),
  )
  .option(
    '--repair',
    'replace damaged packs with what can be read of them, so that the next backups store the rest again',
  )
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag & { sample?: number; repair?: boolean }) =>
    (await import('./backups.js')).check(readConfig(), options),
  );

const policies = program.command('policies').description('updates that are planned on a schedule');
const policyId = wholeNumber(1, Number.MAX_SAFE_INTEGER);
policies
  .command('list')
  .description('list the policies, with the last result of each')
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag) => (await import('./policies.js')).list(readConfig(), options));
policies
  .command('show')
  .description('print all settings of a policy, as JSON')
  .argument('<id>', '', policyId)
  .action(async (id: number) => (await import('./policies.js')).show(readConfig(), id));
policies
  .command('preview')
  .description('show what a policy would do now, and would have done in the last 30 days; changes nothing')
  .argument('<id or json>', 'the id of a policy, or the settings of one as JSON')
  .option('--json', 'print JSON')
  .action(async (which: string, options: JsonFlag) =>
    (await import('./policies.js')).preview(readConfig(), which, options),
  );
policies
  .command('set')
  .description('create a policy, or change one')
  .argument('<json>', 'its settings, as REST takes them; "-" reads them from stdin')
  .option('--id <id>', 'change only the given settings of this policy', policyId)
  .option('--json', 'print JSON')
  .action(async (input: string, options: JsonFlag & { id?: number }) =>
    (await import('./policies.js')).set(readConfig(), input, options),
  );
for (const word of ['on', 'off'] as const)
  policies
    .command(word)
    .description(`switch a policy ${word}`)
    .argument('<id>', '', policyId)
    .option('--json', 'print JSON')
    .action(async (id: number, options: JsonFlag) =>
      (await import('./policies.js')).turn(readConfig(), id, word === 'on', options),
    );
policies
  .command('delete')
  .description('delete a policy; what it started continues')
  .argument('<id>', '', policyId)
  .option('--json', 'print JSON')
  .action(async (id: number, options: JsonFlag) => (await import('./policies.js')).remove(readConfig(), id, options));

const jobs = program.command('jobs').description('queued jobs');
jobs
  .command('list')
  .description('list the newest jobs')
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag) => (await import('./jobs.js')).listJobs(readConfig(), options));
jobs
  .command('watch')
  .description('follow a job until it ends')
  .argument('<id>')
  .option('--json', 'print JSON when it has ended')
  .action(async (id: string, options: JsonFlag) => (await import('./jobs.js')).watchJob(readConfig(), id, options));

jobs
  .command('cancel')
  .description('cancel a job; what it has done so far stays done')
  .argument('<id>')
  .option('--json', 'print JSON')
  .action(async (id: string, options: JsonFlag) => (await import('./jobs.js')).cancelQueued(readConfig(), id, options));

program
  .command('schedule')
  .description('scheduled tasks')
  .command('list')
  .description('list the scheduled tasks, with their last and next runs')
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag) => (await import('./jobs.js')).listSchedule(readConfig(), options));

const mail = program.command('mail').description('mail that the service sends');
mail
  .command('preview')
  .description('show a sample of one mail type')
  .argument('<type>', 'a mail type, such as daily_digest or uptime, or an alert kind, such as certificate.expiring')
  .option('--html', 'print the HTML instead of the text')
  .option('--json', 'print JSON')
  .action(async (type: string, options: JsonFlag & { html?: boolean }) =>
    (await import('./mail.js')).showMail(readConfig(), type, options),
  );
mail
  .command('outbox')
  .description('list mail that is waiting, was sent, or failed')
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag) => (await import('./mail.js')).showOutbox(readConfig(), options));

const alert = program.command('alert').description('recipients of alerts');
alert
  .command('list')
  .description('list the recipients')
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag) => (await import('./alert.js')).showRecipients(readConfig(), options));
alert
  .command('test')
  .description('send a test alert to all recipients; exit code 1 when a delivery fails')
  .option('--kind <kind>', 'kind of the alert, such as certificate.expiring', 'monitor.down')
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag & { kind: string }) =>
    (await import('./alert.js')).testAlerts(readConfig(), options),
  );

const vulnerabilities = program.command('vulnerabilities').description('the feed of known vulnerabilities');
vulnerabilities
  .command('refresh')
  .description('read the feed now; exit code 1 when it cannot be read')
  .option('--accept-shorter', 'accept the feed even if it has become much shorter')
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag & { acceptShorter?: boolean }) =>
    (await import('./vulnerabilities.js')).refreshFeed(readConfig(), options),
  );

program
  .command('login-link')
  .description('print a link that logs a person in once, within 15 minutes')
  .option('--user <name>', 'default: the first user with the right to make changes')
  .option('--json', 'print JSON')
  .action(async (options: JsonFlag & { user?: string }) =>
    (await import('./login-link.js')).showLoginLink(readConfig(), options),
  );

const user = program.command('user').description('users of the page and the API');
user
  .command('add')
  .description('add a user')
  .argument('<name>')
  .option('--read-only', 'without the right to change anything')
  .option('--approve', 'with the right to approve what others ask for')
  .option('--password-stdin', 'read the password from stdin instead of generating one')
  .option('--json', 'print JSON')
  .action(async (name: string, options) => (await import('./accounts.js')).addUser(readConfig(), name, options));
user
  .command('edit')
  .description('change the rights of a user; ends open sessions and login links')
  .argument('<name>')
  .addOption(new Option('--right <right>', 'write may also read').choices(['read', 'write']))
  .option('--approve', 'grant the right to approve what others ask for')
  .option('--no-approve', 'take away the right to approve')
  .option('--off', 'disable the user')
  .option('--on', 'enable the user again')
  .action(async (name: string, options) => (await import('./accounts.js')).changeUser(readConfig(), name, options));
user
  .command('password')
  .description('set a new password for a user')
  .argument('<name>')
  .option('--password-stdin', 'read the password from stdin instead of generating one')
  .option('--json', 'print JSON')
  .action(async (name: string, options) => (await import('./accounts.js')).changePassword(readConfig(), name, options));
user
  .command('list')
  .description('list the users')
  .option('--json', 'print JSON')
  .action(async (options) => (await import('./accounts.js')).listUsers(readConfig(), options));
user
  .command('remove')
  .description('remove a user')
  .argument('<name>')
  .action(async (name: string) => (await import('./accounts.js')).removeUser(readConfig(), name));

const key = program.command('key').description('API keys for REST and MCP');
key
  .command('add')
  .description('create a key and print it once')
  .addOption(
    new Option('--scope <scope>', 'what the key may do').choices(['read', 'write', 'read_write']).default('read_write'),
  )
  .option('--approve', 'may also approve what others ask for; never give such a key to an assistant')
  .option('--description <text>', 'what it is for', '')
  .option('--json', 'print JSON')
  .action(async (options) => (await import('./accounts.js')).addKey(readConfig(), options));
key
  .command('list')
  .description('list the keys')
  .option('--json', 'print JSON')
  .action(async (options) => (await import('./accounts.js')).listKeys(readConfig(), options));
key
  .command('remove')
  .description('remove a key')
  .argument('<id>', 'number, or ck_… of a legacy key')
  .action(async (id: string) => (await import('./accounts.js')).removeKey(readConfig(), id));

await program.parseAsync().catch((error: unknown) => {
  say(problemText(error));
  process.exitCode = 1;
});
// Everything opened is closed by now; a library that keeps running must not hold the process.
setTimeout(() => process.exit(), 3000).unref();

function hostOption(): Option {
  return new Option('--host <address>', 'address to listen on (default: SITEFLEET_HOST or 127.0.0.1)');
}

function portOption(): Option {
  return new Option('--port <port>', 'port to listen on, 0 for a free one (default: SITEFLEET_PORT or 8787)').argParser(
    wholeNumber(0, 65_535),
  );
}

/** With the words that lead to it: `sitefleet user add`. */
function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Allowed: a whole number from ${min} to ${max}.`);
  };
}

function listening({ host, port }: Listening): Partial<Config> {
  return { ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port }) };
}
