/** Reads constants from the wp-config.php of a backup, for a copy of the site. */

/** Texts that are no secrets. All others may be one: a copy gets a word in their place. */
const TEXTS = new Set(['DB_CHARSET', 'DB_COLLATE', 'WPLANG', 'WP_DEFAULT_THEME', 'UPLOADS', 'WP_ENVIRONMENT_TYPE']);
const HIDDEN = 'drill';
/** A copy has its own, or none. */
const NEVER =
  /^(ABSPATH|DB_(NAME|USER|PASSWORD|HOST)|(SECURE_AUTH|LOGGED_IN|AUTH|NONCE)_(KEY|SALT)|WP_(CONTENT|PLUGIN)_(DIR|URL)|WPMU_PLUGIN_(DIR|URL)|PLUGINDIR|MUPLUGINDIR|WP_(HOME|SITEURL|TEMP_DIR|ALLOW_MULTISITE|PROXY_\w+)|MULTISITE|SUBDOMAIN_INSTALL|\w*_CURRENT_SITE|COOKIE_DOMAIN)$/;
/** From the beginning of its line, and with few blanks: a file of nothing else would be read again from each line. */
const DEFINE =
  /^[ \t]*define\s{0,20}\(\s{0,20}(['"])(\w{1,100})\1\s{0,20},\s{0,20}(?:(true|false)|(-?\d{1,15})|'((?:[^'\\]|\\.){0,2000})'|"([^"$\\]{0,2000})")\s{0,20}\)\s{0,20};/gim;
const MOST = 500;

/**
 * Constants that are plainly defined: plugins may need them. The code is not run. Only truth values, numbers and a few texts keep
 * their values.
 */
export function siteConstants(config: string): Record<string, string | number | boolean> {
  const found: Record<string, string | number | boolean> = {};
  for (const [, , name = '', truth, number, single, double] of [...config.matchAll(DEFINE)].slice(0, MOST)) {
    if (NEVER.test(name) || name === '__proto__') continue;
    const text = single ?? double ?? '';
    if (truth !== undefined) found[name] = truth.toLowerCase() === 'true';
    else if (number !== undefined) found[name] = Number(number);
    else found[name] = text === '' || (TEXTS.has(name) && /^[\w./-]{0,100}$/.test(text)) ? text : HIDDEN;
  }
  return found;
}
