/** Formats and segments of the pro reports (REST §6.8). */

export const REPORT_FORMATS = ['raw', 'normal', 'json', 'csv', 'html'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

const CONTENT = ['created', 'updated', 'trashed', 'deleted', 'restored'] as const;

/** Every segment with its action words; none = it has figures only. */
export const SEGMENTS = {
  plugins: [
    'installed',
    'activated',
    'deactivated',
    'updated',
    'rolled-back',
    'edited',
    'deleted',
    'abandoned',
    'pending',
  ],
  themes: ['installed', 'activated', 'updated', 'rolled-back', 'edited', 'deleted', 'abandoned', 'pending'],
  platform: ['updated', 'pending'],
  posts: CONTENT,
  pages: CONTENT,
  users: ['created', 'updated', 'deleted'],
  comments: ['created', 'updated', 'edited', 'trashed', 'deleted', 'restored', 'approved', 'spam', 'replied'],
  menus: ['created', 'updated', 'deleted'],
  media: ['uploaded', 'updated', 'deleted'],
  backups: ['created'],
  maintenance: ['process'],
  scanner_a: ['checks'],
  scanner_b: ['scan'],
  scanner_c: ['scans'],
  scan_a: [],
  protect_a: [],
  security_plugin: ['scan'],
  domainmonitor: [],
  sslmonitor: [],
  shop_status: [],
  vulnerable: [],
  analytics_a: [],
  analytics_b: [],
  'perf-audit': [],
  uptime_monitor_ext: [],
  uptime: [],
  feedback_tool: [],
  website: [],
  abandoned: [],
  pending: [],
  misc: [],
} as const satisfies Record<string, readonly string[]>;

export type Segment = keyof typeof SEGMENTS;
export const SEGMENT_NAMES = Object.keys(SEGMENTS) as [Segment, ...Segment[]];

/** The content of each segment. */
export const SEGMENT_CONTENT: Readonly<Record<Segment, string>> = {
  plugins: 'Plugin activity',
  themes: 'Theme activity',
  platform: 'WordPress updates',
  posts: 'Post activity',
  pages: 'Page activity',
  users: 'User activity',
  comments: 'Comment activity',
  menus: 'Menu activity',
  media: 'Media activity',
  backups: 'Backups',
  maintenance: 'Maintenance',
  scanner_a: 'Malware checks by another tool',
  scanner_b: 'Security scans by another tool',
  scanner_c: 'Virus scans by another tool',
  scan_a: 'Vulnerability scan by another tool',
  protect_a: 'Vulnerability protection by another tool',
  security_plugin: 'Activity of a security plugin',
  domainmonitor: 'Domain registration',
  sslmonitor: 'Certificate',
  shop_status: 'Shop status',
  vulnerable: 'Known vulnerabilities',
  analytics_a: 'Visitors, with a chart',
  analytics_b: 'Visitors',
  'perf-audit': 'Performance audits',
  uptime_monitor_ext: 'Uptime from another service',
  uptime: 'Uptime and incidents from the built-in monitor',
  feedback_tool: 'Feedback tasks',
  website: "The site's versions, plugins and themes",
  abandoned: 'Abandoned plugins and themes',
  pending: 'Pending updates',
  misc: "The report's period, date and client",
};
