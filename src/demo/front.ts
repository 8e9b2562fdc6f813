import { page } from './answer.js';
import type { Faults, PageVisit } from './faults.js';
import type { Answer } from './http-answer.js';
import type { DemoSite } from './site.js';
import type { PostState } from './state.js';

/** The page at this address, as WordPress without permalinks answers a visitor. Addresses without a meaning show the front page. */
export function publicPage(site: DemoSite, { path, query }: PageVisit): Answer {
  const route = query('rest_route') || (path.startsWith('wp-json/') ? path.slice('wp-json'.length) : '');
  if (route !== '') return rest(site, route);
  if (path === 'robots.txt')
    return page(200, 'User-agent: *\nDisallow: /wp-admin/\n', { 'content-type': 'text/plain' });
  if (query('feed') !== '') return feed(site);
  const id = query('p') || query('page_id');
  if (id !== '') {
    const post = published(site).find((one) => String(one.id) === id);
    if (post === undefined) return htmlPage(site, 404, 'Page not found', '<h1>Page not found</h1>');
    return htmlPage(site, 200, post.title, `<article><h1>${html(post.title)}</h1>${post.content}</article>`);
  }
  const listed = query('cat') !== '' || query('s') !== '';
  return listed ? htmlPage(site, 200, 'Archive', articles(site, 20)) : frontPage(site);
}

/** The front page. A site whose active theme does not exist shows nothing (child protocol §6.3). */
export function frontPage(site: DemoSite): Answer {
  return htmlPage(site, 200, '', articles(site, 3));
}

function published(site: DemoSite): PostState[] {
  return site.inner.posts.filter(({ status }) => status === 'publish');
}

function articles(site: DemoSite, count: number): string {
  const latest = published(site).filter(({ type }) => type === 'post');
  return latest
    .slice(0, count)
    .map((post) => `<article><h2>${html(post.title)}</h2>${post.content}</article>`)
    .join('\n');
}

function htmlPage(site: DemoSite, status: number, title: string, content: string): Answer {
  const state = site.inner;
  if (!state.themes.some((theme) => theme.slug === state.activeTheme)) return page(200, '');
  const lang = state.language.replace('_', '-');
  const name = html(state.title);
  const menu = published(site)
    .filter(({ type }) => type === 'page')
    .map((one) => `<a href="${addressOf(site, one)}">${html(one.title)}</a>`);
  return page(
    status,
    `<!DOCTYPE html>\n<html lang="${lang}">\n<head><meta charset="UTF-8"><title>${title === '' ? '' : `${html(title)} – `}${name}</title>` +
      `<meta name="generator" content="WordPress ${state.wpVersion}"></head>\n` +
      `<body class="theme-${html(state.activeTheme)}"><header><h1>${name}</h1>\n<nav>${menu.join(' ')}</nav></header>\n` +
      `<main>${content}</main>\n<footer>© ${name}</footer>\n</body>\n</html>\n`,
  );
}

function addressOf({ url }: DemoSite, { id, type }: PostState): string {
  return `${url}?${type === 'page' ? 'page_id' : 'p'}=${id}`;
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

/** What the sandbox of the guard shows to its user. */
export function insidePage(site: DemoSite, name: string): Answer {
  if (name === 'front') {
    const made = frontPage(site);
    return {
      ...made,
      body: String(made.body).replace('</body>', '<div id="wpadminbar">Howdy, Sitefleet</div></body>'),
    };
  }
  if (name === 'passwords') return page(200, '<sitefleet-passwords>accepted</sitefleet-passwords>');
  if (name === 'ajax') return page(200, '1');
  if (name === 'rest')
    return page(200, '{"id":2147483647,"name":"Sitefleet"}', { 'content-type': 'application/json; charset=UTF-8' });
  const made = adminPage(site, 'Sitefleet');
  const menu = '<ul id="adminmenu"><li>Dashboard</li><li>Posts</li><li>Media</li><li>Pages</li><li>Comments</li></ul>';
  const content =
    name === 'dashboard'
      ? '<div id="wpbody-content"><h2>At a Glance</h2><p>Activity, quick draft, events and news about WordPress.</p>'
      : `${STYLES}<div id="wpbody-content"><div id="editor"></div>${SCRIPTS.map((one) => `<script src="${site.url}${one}.js" id="${one}-js"></script>`).join('')}`;
  return {
    ...made,
    body: String(made.body).replace('<h1>', `${menu}${content}<h1>`).replace('</body>', '</div></body>'),
  };
}

const SCRIPTS = [
  'wp-element',
  'wp-data',
  'wp-core-data',
  'wp-components',
  'wp-blocks',
  'wp-block-editor',
  'wp-editor',
  'wp-edit-post',
];
/** WordPress loads styles several at once; some have the name of a script. */
const STYLES =
  '<link rel="stylesheet" href="/wp-admin/load-styles.php?c=0&amp;load%5Bchunk_0%5D=wp-components,wp-block-editor,wp-editor,wp-edit-post&amp;ver=6.8" />';

/** WordPress' REST interface, as far as it is used here. */
function rest(site: DemoSite, route: string): Answer {
  const json = (status: number, value: unknown) =>
    page(status, JSON.stringify(value), { 'content-type': 'application/json; charset=UTF-8' });
  if (route === '/') return json(200, { name: html(site.inner.title), namespaces: ['oembed/1.0', 'wp/v2'] });
  const [, kind] = /^\/wp\/v2\/(posts|pages)$/.exec(route) ?? [];
  // Every post is in all categories.
  const terms = site.inner.categories.map(({ term_id }) => ({ link: `${site.url}?cat=${term_id}` }));
  const embedded = kind === 'posts' ? { _embedded: { 'wp:term': [terms] } } : {};
  const posts = published(site).filter(({ type }) => `${type}s` === kind);
  return kind === undefined
    ? json(404, { code: 'rest_no_route' })
    : json(
        200,
        posts.map((post) => ({ link: addressOf(site, post), ...embedded })),
      );
}

function feed(site: DemoSite): Answer {
  const items = published(site).map(({ title }) => `<item><title>${html(title)}</title></item>`);
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel>${items.join('')}</channel></rss>\n`;
  return page(200, body, { 'content-type': 'application/rss+xml; charset=UTF-8' });
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
