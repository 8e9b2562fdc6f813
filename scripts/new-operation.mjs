/**
 * `npm run new:operation <group> <name>`: writes the skeleton of an operation: its file, its line in the group's index
 * and its test case. Changes nothing when the name is invalid or taken.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CASES = 'test/operations/cases.ts';
const MARK = '  // New operations: above this line';

const [group = '', given = '', ...others] = process.argv.slice(2);
const name = given.replace(/^svc[/-]/, '').replace(/-v1$/, '');
const folder = join('tools', group);
const [verb = ''] = name.split('-');
const reads = ['get', 'list', 'count', 'find', 'search'].includes(verb);
const destroys = ['delete', 'remove'].includes(verb);
const file = join(folder, `${name}-v1.ts`);
const index = join(folder, 'index.ts');

const problem = problemOf();
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}

const indexed = withLine(readFileSync(index, 'utf8'));
const cases = readFileSync(CASES, 'utf8');
if (indexed === undefined || cases.split(MARK).length !== 2) {
  process.stderr.write(
    `The list in ${indexed === undefined ? index : CASES} does not look as expected. Nothing was written.\n`,
  );
  process.exit(1);
}
writeFileSync(file, skeleton());
writeFileSync(index, indexed);
writeFileSync(
  CASES,
  cases.replace(MARK, `  operation('${name}', [], ${destroys ? '{ confirm: true }' : '{}'}),\n${MARK}`),
);
spawnSync(process.execPath, ['node_modules/@biomejs/biome/bin/biome', 'check', '--write', file, index, CASES]);

process.stdout.write(`Written: ${file}
Added a line: ${index}
Added a line: ${CASES}

Next:
1. Fill in ${file}: title, about, input and output, and the call of a function of src/domain/. Check effect, change and idempotent.
2. In ${CASES}, list the error codes it documents and the input of a working call.
3. npm run gen           writes schemas/svc/${name}-v1.json and tools/README.md.
4. npm run test:quick
`);

function problemOf() {
  const groups = readdirSync('tools').filter((entry) => existsSync(join('tools', entry, 'index.ts')));
  if (group === '' || name === '' || others.length > 0) {
    return 'Usage: npm run new:operation <group> <name>, for example: npm run new:operation sites get-site-users';
  }
  if (!groups.includes(group)) {
    return `There is no group ${group}. Groups: ${groups.join(', ')}. A new one is an entry in src/runtime/toolsets.ts, an index.ts in tools/${group}/ and a line in tools/index.ts.`;
  }
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)+$/.test(name)) {
    return `"${name}" is not a name of an operation: a verb and a noun in lower case, joined by dashes, such as get-site-users.`;
  }
  return existsSync(file) ? `There is an operation ${name} already: ${file}` : undefined;
}

/** The index with an import and a member added to the end of its list; undefined when it has no operation list. */
function withLine(text) {
  const variable = name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
  const list = /(: readonly Operation\[\] = \[)([^\]]*?),?\s*\];/;
  if (!list.test(text)) return undefined;
  const imported = text.replace(/^(import type .*\n)/, `$1import ${variable} from './${name}-v1.js';\n`);
  return imported.replace(list, (_, head, members) => `${head}${members === '' ? '' : `${members}, `}${variable}];`);
}

function skeleton() {
  const words = name.replaceAll('-', ' ');
  const title = words[0].toUpperCase() + words.slice(1);
  const run = reads ? `  run: '${verb === 'list' || verb === 'count' ? 'GET' : 'POST'}',\n` : '';
  const effect = reads ? 'read' : destroys ? 'destroy' : 'write';
  const todo = `throw new Error('${name} is not written yet');`;
  const preview = `  async preview(input, ctx) {
    // Look the target up and answer what would be deleted; change nothing.
    ${todo}
  },
`;
  return `${destroys ? `import { confirmation } from '../../schemas/common.js';\n` : ''}import { z } from '../../schemas/zod.js';
import { defineOperation } from '../../src/operation/operation.js';

export default defineOperation({
  id: 'svc/${name}-v1',
  title: '${title}',
  about: '${title}: say what it does, and when to use it.',
${run}  effect: '${effect}',
${reads ? '' : `  change: '${destroys ? 'deletions' : 'other'}',\n  idempotent: false,\n`}  input: () => z.object({${destroys ? ' ...confirmation ' : ''}}),
  output: () => z.object({ total: z.number().int() }),
${destroys ? preview : ''}  async handle(input, ctx) {
    ${todo}
  },
});
`;
}
