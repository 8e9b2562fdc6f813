/** The toolsets: groups of operations, published as categories over HTTP and switched on or off for assistants. */

interface ToolsetFacts {
  label: string;
  description: string;
  /** Maximum cost of its tools per conversation with an assistant, in tokens (o200k); checked by a test. */
  max_tokens: number;
  /** Not listed unless the operator or the connection names it. */
  optional?: true;
}

/** In publication order. */
const FACTS = {
  sites: {
    label: 'Sites',
    description: 'Connect, read, check and change sites.',
    max_tokens: 4800,
  },
  updates: {
    label: 'Updates',
    description: 'Find, apply and ignore core, plugin, theme and translation updates.',
    max_tokens: 3150,
  },
  clients: {
    label: 'Clients',
    description: 'Manage the clients that sites belong to.',
    max_tokens: 2000,
  },
  tags: { label: 'Tags', description: 'Group sites by tag.', max_tokens: 1150 },
  batch: {
    label: 'Batch jobs',
    description: 'Follow work in the background.',
    max_tokens: 250,
  },
  safety: {
    label: 'Safe updates',
    description: 'Update with a guard that rolls back what breaks the site, and roll back updates.',
    max_tokens: 590,
  },
  fleet: {
    label: 'Fleet',
    description: 'More actions on several sites at once.',
    max_tokens: 450,
  },
  insight: {
    label: 'Insight',
    description: 'Questions about the whole fleet, answered in one call.',
    max_tokens: 1350,
  },
  guard: {
    label: 'Guard',
    description: 'The guard of sites, the copies it keeps, and quarantined versions.',
    max_tokens: 1250,
    optional: true,
  },
  support: {
    label: 'Support',
    description: 'Why a site is red, who changed what, how sites differ, tags of many sites, and jobs to cancel.',
    max_tokens: 1900,
    optional: true,
  },
  undo: {
    label: 'Undo',
    description: 'Restore what changes replaced, with a plan of its own.',
    max_tokens: 700,
    optional: true,
  },
  guidance: {
    label: 'Guidance',
    description: 'What to watch out for before sites are changed.',
    max_tokens: 600,
    optional: true,
  },
  monitoring: {
    label: 'Monitoring',
    description: 'Incidents, uptime, certificates, domains, alerts and runs of updates.',
    max_tokens: 2500,
    optional: true,
  },
  reports: {
    label: 'Reports',
    description: 'Reports on sites for their clients.',
    max_tokens: 520,
    optional: true,
  },
  content: {
    label: 'Content',
    description: 'Posts, pages and comments on the sites.',
    max_tokens: 2350,
    optional: true,
  },
  costs: {
    label: 'Costs',
    description: 'What is paid for sites, and when it renews.',
    max_tokens: 1350,
    optional: true,
  },
  time: {
    label: 'Time',
    description: 'Time worked for clients, timers and hour buckets.',
    max_tokens: 1800,
    optional: true,
  },
  approvals: {
    label: 'Approvals',
    description: 'Changes that wait for a person to approve them.',
    max_tokens: 400,
    optional: true,
  },
  rollouts: {
    label: 'Rollouts',
    description: 'Plan updates of many sites, and carry them out in waves that halt when something breaks.',
    max_tokens: 1800,
    optional: true,
  },
  policies: {
    label: 'Policies',
    description: 'What is updated automatically, and when.',
    max_tokens: 450,
    optional: true,
  },
  backups: {
    label: 'Backups',
    description: 'Back up sites, now or on schedule, prove the backups, and restore from them.',
    max_tokens: 1550,
    optional: true,
  },
} as const satisfies Record<string, ToolsetFacts>;

export type Toolset = keyof typeof FACTS;

export const TOOLSET_FACTS: Readonly<Record<Toolset, ToolsetFacts>> = FACTS;

/** The names, in publication order. */
export const TOOLSETS = Object.keys(FACTS) as readonly Toolset[];

/** The toolsets listed when neither the operator nor the connection names any. */
export const DEFAULT_TOOLSETS = TOOLSETS.filter((name) => TOOLSET_FACTS[name].optional !== true);
