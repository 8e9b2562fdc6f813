import { generateContent } from './content.js';
import { generatePlugins, generateThemes } from './inventory.js';
import { GIVEN } from './names.js';
import { WP_VERSION } from './plugins.js';
import { mixSeed, Random } from './random.js';
import type { SiteState, TranslationState, UserState } from './state.js';

export interface SiteSeed {
  index: number;
  seed: number;
  admin: string;
  password: string;
  title: string;
  uniqueId: string;
  /** Exact number of plugins, the child among them; absent = 8 to 30. */
  plugins: number | undefined;
  /** Milliseconds; the site's history ends here. */
  now: number;
}

const LANGUAGES = [
  { code: 'en_US', timezone: '', gmtOffset: 0 },
  { code: 'en_GB', timezone: 'Europe/London', gmtOffset: 0 },
  { code: 'de_DE', timezone: 'Europe/Berlin', gmtOffset: 1 },
  { code: 'en_US', timezone: 'America/New_York', gmtOffset: -5 },
] as const;

const PHP = ['8.4.16', '8.3.29', '8.2.35', '8.2.35', '8.1.34', '7.4.33'] as const;
const OLD_WP = ['7.1.3', '7.0.2', '6.8.7', '6.1.9'] as const;
const MYSQL = ['10.11.19-MariaDB-0+deb12u1', '8.0.44', '11.4.9-MariaDB', '5.7.44'] as const;

/** The complete content of one site, from its seed alone. */
export function generateSite(seed: SiteSeed): SiteState {
  const random = new Random(mixSeed(seed.seed, seed.index, 0x517e));
  const now = Math.floor(seed.now / 1000);
  const locale = random.pick(LANGUAGES);
  const phpVersion = random.pick(PHP);
  const wpVersion = random.chance(0.7) ? WP_VERSION : random.pick(OLD_WP);
  const users = generateUsers(random, seed, now);
  const plugins = generatePlugins(random, seed.plugins, now);
  const { themes, activeTheme } = generateThemes(random, now);
  return {
    pluginActive: true,
    uniqueId: seed.uniqueId,
    connection: null,
    algorithm: null,
    syncdata: {},
    siteId: '',
    title: seed.title,
    wpVersion,
    wpUpdate: wpVersion === WP_VERSION ? null : WP_VERSION,
    phpVersion,
    mysqlVersion: random.pick(MYSQL),
    memoryLimit: random.pick(['128M', '256M', '256M', '512M']),
    debug: random.chance(0.06),
    language: locale.code,
    gmtOffset: locale.gmtOffset,
    timezone: locale.timezone,
    isPublic: random.chance(0.95),
    ip: `192.0.2.${random.int(1, 250)}`,
    wphost: random.chance(0.05) ? random.pick(['flywheel', 'pressable']) : '',
    wpe: random.chance(0.04),
    dbSize: random.int(4, 900) * 98304,
    totalSize: random.int(120, 9000),
    backups: generateBackups(seed, now),
    dayCode: random.hex(32),
    icon: random.chance(0.7) ? 'wp-content/uploads/2026/03/icon-150x150.png' : '',
    openssl: true,
    curl: true,
    dbReporting: random.chance(0.9) ? 'Y_UNABLE' : 'N_UNABLE',
    phpReporting: random.chance(0.8) ? 'Y_UNABLE' : 'N_UNABLE',
    health: random.chance(0.15)
      ? { good: 0, recommended: 0, critical: 0 }
      : {
          good: random.int(12, 20),
          recommended: random.int(0, 7),
          critical: random.chance(0.2) ? random.int(1, 3) : 0,
        },
    plugins,
    themes,
    activeTheme,
    translations: generateTranslations(random, locale.code, wpVersion),
    users,
    ...generateContent(random, users, plugins, now),
    abandoned: { days: 365, plugins: new Map(), themes: new Map(), queue: [] },
  };
}

/** Some sites have never made one. Its own seed: what else a site has does not depend on it. */
function generateBackups({ seed, index }: SiteSeed, now: number): SiteState['backups'] {
  const random = new Random(mixSeed(seed, index, 0xbac4));
  const made = random.chance(0.15) ? 0 : now - random.int(1, 96) * 3600;
  return new Map([['updraftplus', { made, noted: made }]]);
}

function generateUsers(random: Random, seed: SiteSeed, now: number): UserState[] {
  const roles = ['administrator', 'editor', 'author', 'author', 'subscriber', 'subscriber', 'subscriber'];
  const others = random.sample(
    GIVEN.filter((name) => name !== seed.admin),
    random.int(1, 5),
  );
  return [seed.admin, ...others].map((login, i) => ({
    id: i + 1,
    login,
    password: i === 0 ? seed.password : random.hex(16),
    email: `${login}@site-${seed.index}.example`,
    displayName: login.charAt(0).toUpperCase() + login.slice(1),
    role: i === 0 ? 'administrator' : random.pick(roles),
    registered: now - random.int(30, 2000) * 86400,
    passwordRequired: true,
    canLogIn: true,
    sessions: random.int(0, 3),
    regverify: [],
  }));
}

function generateTranslations(random: Random, language: string, wpVersion: string): TranslationState[] {
  if (language === 'en_US' || random.chance(0.4)) return [];
  const core: TranslationState = { type: 'core', slug: 'default', language, version: wpVersion, name: 'WordPress' };
  const plugin: TranslationState = { type: 'plugin', slug: 'akismet', language, version: '5.7.2', name: 'Akismet' };
  return random.chance(0.5) ? [core, plugin] : [core];
}
