/** The manifests of a release: the manifest of an .mcpb, and the entry for the MCP registry. */

/** Systems the native driver exists for, by the suffix of its package name. */
export const SYSTEMS = {
  'linux-x64': { os: 'linux', cpu: 'x64', libc: 'glibc' },
  'linux-arm64': { os: 'linux', cpu: 'arm64', libc: 'glibc' },
  'darwin-x64': { os: 'darwin', cpu: 'x64' },
  'darwin-arm64': { os: 'darwin', cpu: 'arm64' },
  'win32-x64': { os: 'win32', cpu: 'x64' },
};

export function systemHere() {
  const system = `${process.platform}-${process.arch}`;
  if (!(system in SYSTEMS))
    throw new Error(`There is no native driver for ${system}; known: ${Object.keys(SYSTEMS).join(', ')}.`);
  return system;
}

/** The https address of the repository, without `.git`; undefined when package.json has none. */
function repositoryUrl({ repository }) {
  const url = typeof repository === 'string' ? repository : repository?.url;
  return url?.replace(/^git\+/, '').replace(/\.git$/, '');
}

/**
 * Name in the MCP registry, whose first part the publisher must own. Without a repository it is the reserved example
 * domain, which the registry refuses: this way the release claims no name that could belong to someone else.
 */
export function registryName(facts) {
  const [, owner] = /^https:\/\/github\.com\/([^/]+)\//.exec(repositoryUrl(facts) ?? '') ?? [];
  return `${owner === undefined ? 'com.example' : `io.github.${owner}`}/${facts.name}`;
}

/** `server.json`: the npm package, and the .mcpb files where their address is known. */
export function registryEntryOf(facts, bundles) {
  const url = repositoryUrl(facts);
  const downloads =
    url === undefined
      ? []
      : bundles.map(({ file, sha256 }) => ({
          registryType: 'mcpb',
          identifier: `${url}/releases/download/v${facts.version}/${file.split(/[\\/]/).at(-1)}`,
          fileSha256: sha256,
          transport: { type: 'stdio' },
        }));
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: registryName(facts),
    title: 'Sitefleet',
    description: 'Manage a fleet of WordPress sites that run MainWP Child.',
    version: facts.version,
    ...(url === undefined ? {} : { repository: { url, source: 'github' } }),
    packages: [
      {
        registryType: 'npm',
        identifier: facts.name,
        version: facts.version,
        transport: { type: 'stdio' },
        packageArguments: [{ type: 'positional', value: 'stdio' }],
        environmentVariables: [
          {
            name: 'SITEFLEET_DB',
            description:
              'Where the data is: file:PATH, or the URL of a libSQL server. Default: a file in the data folder of the user.',
          },
          { name: 'SITEFLEET_DB_TOKEN', description: 'Access token of the libSQL server.', isSecret: true },
          {
            name: 'SITEFLEET_SECRET_KEY_FILE',
            description:
              'File with the key that seals stored secrets. Default: secret.key beside the database; made when there is none.',
          },
        ],
      },
      ...downloads,
    ],
  };
}

/** Placeholder that the program opening the .mcpb fills in. */
const given = (name) => `\${${name}}`;

/**
 * `manifest.json` of the .mcpb for one system. A field the user leaves empty becomes an empty variable, which counts as
 * not set.
 */
export function manifestOf(facts, system, program) {
  const url = repositoryUrl(facts);
  return {
    manifest_version: '0.3',
    name: facts.name,
    display_name: 'Sitefleet',
    version: facts.version,
    description: facts.description,
    long_description:
      'Sees and changes WordPress sites that run the MainWP Child plugin: syncs, updates with a way back, monitors, certificates, clients, tags. ' +
      'The data stay on this machine, in one file; secrets are sealed with a key beside it. Deletions are asked for before they happen.',
    author: { name: 'The Sitefleet authors' },
    license: facts.license,
    keywords: facts.keywords,
    ...(url === undefined ? {} : { repository: { type: 'git', url: `${url}.git` } }),
    server: {
      type: 'node',
      entry_point: program,
      mcp_config: {
        command: 'node',
        args: [`${given('__dirname')}/${program}`, 'stdio'],
        env: {
          SITEFLEET_DB: given('user_config.database'),
          SITEFLEET_DB_TOKEN: given('user_config.database_token'),
          SITEFLEET_SECRET_KEY: given('user_config.secret_key'),
          SITEFLEET_READ_ONLY: given('user_config.read_only'),
        },
      },
    },
    tools_generated: true,
    prompts_generated: true,
    user_config: {
      database: {
        type: 'string',
        title: 'Database',
        description:
          'Where the data is: file: and a path, or the URL of a libSQL server. Empty: a file in your data folder, shared with "sitefleet serve".',
        required: false,
        default: '',
      },
      database_token: {
        type: 'string',
        title: 'Token of the libSQL server',
        description: 'Only for a database on a server.',
        sensitive: true,
        required: false,
        default: '',
      },
      secret_key: {
        type: 'string',
        title: 'Secret key',
        description:
          '32 bytes as 64 hex digits or base64; needed for a database on a server. Empty: the file secret.key beside the database, made on the first start.',
        sensitive: true,
        required: false,
        default: '',
      },
      read_only: {
        type: 'boolean',
        title: 'Read only',
        description: 'Refuse everything that changes something.',
        required: false,
        default: false,
      },
    },
    compatibility: { platforms: [SYSTEMS[system].os], runtimes: { node: facts.engines.node } },
  };
}
