/** Formats and segments of the pro reports (REST §6.8). */

export const REPORT_FORMATS = ['raw', 'normal', 'json', 'csv', 'html'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

const CONTENT = ['created', 'updated', 'trashed', 'deleted', 'restored'] as const;

/** Every segment with its action words; none = it has figures only. */
export const SEGMENTS = {
  plugins: ['installed', 'activated', 'deactivated', 'updated', 'edited', 'deleted', 'abandoned', 'pending'],
  themes: ['installed', 'activated', 'updated', 'edited', 'deleted', 'abandoned', 'pending'],
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
