import { type Answer, page } from './answer.js';
import type { Faults } from './faults.js';
import type { DemoSite } from './site.js';

/** What a visitor sees. A site whose active theme does not exist shows nothing (child protocol §6.3). */
export function frontPage(site: DemoSite): Answer {
  const state = site.inner;
  if (!state.themes.some((theme) => theme.slug === state.activeTheme)) return page(200, '');
  const latest = state.posts.filter((post) => post.type === 'post' && post.status === 'publish').slice(0, 3);
  const articles = latest.map((post) => `<article><h2>${html(post.title)}</h2>${post.content}</article>`).join('\n');
  const lang = state.language.replace('_', '-');
  const name = html(state.title);
  return page(
    200,
    `<!DOCTYPE html>\n<html lang="${lang}">\n<head><meta charset="UTF-8"><title>${name}</title>` +
      `<meta name="generator" content="WordPress ${state.wpVersion}"></head>\n` +
      `<body class="theme-${html(state.activeTheme)}"><h1>${name}</h1>\n${articles}\n</body>\n</html>\n`,
  );
}

/** Plays WordPress' administration, for a user who logged in through the guard. */
export function adminPage(site: DemoSite, user: string): Answer {
  const name = html(site.inner.title);
  return page(
    200,
    `<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="UTF-8"><title>Dashboard ‹ ${name}</title></head>\n` +
      `<body class="wp-admin"><h1>Dashboard of ${name}</h1>\n<p>Logged in as ${html(user)}. This site is simulated: there is nothing to administer.</p>\n</body>\n</html>\n`,
  );
}

/** The index of WordPress' REST interface, as far as it is used here. */
export function restIndex(site: DemoSite): Answer {
  const headers = { 'content-type': 'application/json; charset=UTF-8' };
  return page(200, JSON.stringify({ name: html(site.inner.title) }), headers);
}

const MAINTENANCE: Readonly<Record<string, readonly [sentence: string, title: string]>> = {
  en_US: ['Briefly unavailable for scheduled maintenance. Check back in a minute.', 'Maintenance'],
  de_DE: [
    'Wegen Wartungsarbeiten ist diese Website kurzzeitig nicht verfügbar. Schau in einer Minute nochmal vorbei.',
    'Wartung',
  ],
};

/** As `wp_maintenance()` shows it: a page of `wp_die()`, or the bare sentence where admin-ajax.php is called. */
export function maintenancePage(site: DemoSite, ajax: boolean): Answer {
  const [sentence, title] = MAINTENANCE[site.inner.language] ?? (MAINTENANCE.en_US as readonly [string, string]);
  const headers = { 'retry-after': '600' };
  if (ajax) return page(503, sentence, headers);
  const body = `<body id="error-page">\n<div class="wp-die-message">${sentence}</div></body>`;
  return page(503, `<!DOCTYPE html>\n<html>\n<head><title>${title}</title></head>\n${body}\n</html>\n`, headers);
}

export function firewallPage(answer?: Faults['firewallAnswer']): Answer {
  if (answer === 'word') return page(403, 'Forbidden');
  if (answer === 'not_found') return page(404, '<h1>404 Not Found</h1>');
  const body = '<!DOCTYPE html>\n<html><head><title>403</title></head><body><h1>Request blocked</h1></body></html>\n';
  return page(403, body);
}

function html(value: string): string {
  return value.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
