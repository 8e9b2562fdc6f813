/** What a simulated site "really" is. The answers of the child functions are made from this, tests assert on it. */

export interface UpdateOffer {
  version: string;
  requiresPhp: string;
  requiresWp: string;
}

export interface PluginState {
  /** `dir/file.php`, or `file.php` for a must-use plugin. */
  slug: string;
  name: string;
  version: string;
  active: boolean;
  description: string;
  author: string;
  mustUse: boolean;
  /** Not from the public directory: its updates are reported apart (child protocol §5.1). */
  premium: boolean;
  update: UpdateOffer | null;
  /** Unix seconds of the newest release in the public directory; 0 when it is unknown there. */
  lastUpdated: number;
  /** Dies when it is activated: the child answers SUCCESS and it stays off (child protocol §6.2). */
  breaksOnActivation: boolean;
}

export interface ThemeState {
  slug: string;
  name: string;
  version: string;
  description: string;
  /** Stylesheet of the parent, or empty. */
  parent: string;
  update: UpdateOffer | null;
  lastUpdated: number;
}

export interface TranslationState {
  type: 'core' | 'plugin' | 'theme';
  slug: string;
  language: string;
  version: string;
  name: string;
}

export interface UserState {
  id: number;
  login: string;
  password: string;
  email: string;
  displayName: string;
  role: string;
  /** Unix seconds. */
  registered: number;
  /** WordPress user setting "require password to connect", on by default (child protocol §3.2). */
  passwordRequired: boolean;
  canLogIn: boolean;
  sessions: number;
  /** Secrets handed out at registration, newest last, at most five. */
  regverify: string[];
}

export interface PostState {
  id: number;
  type: 'post' | 'page' | (string & {});
  status: string;
  /** The status before it went to the trash. */
  statusBefore: string;
  title: string;
  content: string;
  excerpt: string;
  name: string;
  author: string;
  categories: string[];
  tags: string[];
  /** Unix seconds. */
  date: number;
  modified: number;
  commentStatus: string;
  pingStatus: string;
  password: string;
  sticky: boolean;
  featuredImage: string;
  meta: Record<string, string[]>;
  /** Login of the user who has it open in the editor. */
  lockedBy: string;
}

export type CommentStatus = 'approved' | 'unapproved' | 'spam' | 'trash';

export interface CommentState {
  id: number;
  status: CommentStatus;
  statusBefore: CommentStatus;
  author: string;
  authorUrl: string;
  authorIp: string;
  authorEmail: string;
  postId: number;
  content: string;
  /** Unix seconds. */
  date: number;
}

/** One change made outside the dashboard, as it goes over the wire (child protocol §6.7). */
export interface SiteAction {
  context: string;
  action: string;
  action_user: string;
  /** Unix seconds with fraction. */
  created: number;
  summary: string;
  meta_data: Record<string, unknown>;
  duration: number;
}

/** One row of the child's activity log, as it goes over the wire (child protocol §6.7). */
export interface ChangeLogEntry {
  id: number;
  blog_id: number;
  log_type_id: number;
  /** Unix seconds with fraction, as text. */
  created_on: string;
  client_ip: string;
  context: string;
  action_name: string;
  user_agent: string;
  user_roles: string;
  username: string;
  user_id: number;
  duration: number;
  post_status: string;
  post_type: string;
  post_id: number;
  meta_data: Record<string, unknown>;
}

/** What the child keeps about its dashboard; null while it is not connected. */
export interface Connection {
  publicKey: string;
  server: string;
  user: string;
}

export interface OutdatedItem {
  Name: string;
  PluginURI?: string;
  Version: string;
  last_updated: number;
}

export interface AbandonedCache {
  /** Days; the child starts with a year. */
  days: number;
  plugins: Map<string, OutdatedItem>;
  themes: Map<string, OutdatedItem>;
  /** Slugs still waiting for the child's cron (child protocol §6.6). */
  queue: { which: 'plugin' | 'theme'; slug: string }[];
}

export type SecurityMark = 'Y' | 'N' | 'Y_UNABLE' | 'N_UNABLE';

export interface SiteState {
  /** False after `deactivate`: nothing answers any more. */
  pluginActive: boolean;
  uniqueId: string;
  connection: Connection | null;
  /** PHP's number of the last hash that verified; null before the first. */
  algorithm: number | null;
  /** The last `syncdata`, used for every later payload (child protocol §5.2). */
  syncdata: Record<string, unknown>;
  /** The dashboard's id of this site, as it was told. */
  siteId: string;
  title: string;
  wpVersion: string;
  wpUpdate: string | null;
  phpVersion: string;
  mysqlVersion: string;
  memoryLimit: string;
  debug: boolean;
  language: string;
  /** Hours. */
  gmtOffset: number;
  timezone: string;
  isPublic: boolean;
  ip: string;
  wphost: string;
  wpe: boolean;
  /** Bytes. */
  dbSize: number;
  /** MB. */
  totalSize: number;
  /** By the child's name of a backup plugin: unix seconds of its last backup, and what the child has noted of it. */
  backups: Map<string, { made: number; noted: number }>;
  dayCode: string;
  icon: string;
  openssl: boolean;
  curl: boolean;
  dbReporting: SecurityMark;
  phpReporting: SecurityMark;
  health: { good: number; recommended: number; critical: number };
  plugins: PluginState[];
  themes: ThemeState[];
  /** Stylesheet; may name a theme that does not exist (child protocol §6.3). */
  activeTheme: string;
  translations: TranslationState[];
  users: UserState[];
  posts: PostState[];
  comments: CommentState[];
  categories: { term_id: number; name: string; slug: string }[];
  /** Newest last, by id. */
  actions: Map<string, SiteAction>;
  changeLog: ChangeLogEntry[];
  abandoned: AbandonedCache;
  nextId: number;
}
