/** What the checks from outside find after an update, on simulated sites, and what they must not take for harm. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PageChange, PageVisit } from '../../src/demo/faults.js';
import type { PluginState } from '../../src/demo/state.js';
import { isBelow, isOwnPlace } from '../../src/domain/updates/safe/looked-pages.js';
import type { Answer } from '../support/harness.js';
import { listenLocally } from '../support/local-server.js';
import { type SafetyApp, safetyApp } from './safety-app.js';

let app: SafetyApp;
beforeEach(async () => {
  app = await safetyApp({ sites: 1 });
});

const one = { site_id_or_domain: 1 };
const HTML = /html/;

interface Outcome {
  answer: Answer;
  plugin: PluginState;
  old: string;
}

/** Updates a plugin whose new version makes this of the pages. `always` = what every version makes of them. */
async function updated(change: PageChange, always?: PageChange, input: object = {}): Promise<Outcome> {
  const site = app.site(0);
  const plugin = app.offer(site);
  const old = plugin.version;
  site.faults.pages = always;
  site.faults.breaks = { [`${plugin.slug}@99.0`]: change };
  await app.call('sync-sites', {});
  return { answer: await app.safely('safe-update-site', { ...one, ...input }), plugin, old };
}

/** Rolled back, for a reason in these words. */
function expectUndone({ answer, plugin, old }: Outcome, why: RegExp): void {
  expect(answer).toMatchObject({ updated: [], errors: [{ slug: plugin.slug, code: 'svc_update_rolled_back' }] });
  expect(answer.errors[0].evidence).toContainEqual(expect.stringMatching(why));
  expect(plugin.version).toBe(old);
}

/** Kept; `why` = what is said of it, null = nothing. */
function expectKept({ answer, plugin }: Outcome, why: RegExp | null): void {
  expect(answer).toMatchObject({ updated: [{ slug: plugin.slug }], errors: [] });
  const findings = (answer.suspects as { findings: string[] }[]).flatMap((suspect) => suspect.findings);
  if (why === null) expect(findings).toEqual([]);
  else expect(findings).toContainEqual(expect.stringMatching(why));
  expect(plugin.version).toBe('99.0');
}

/** Changes the text of HTML pages; of all, or of those for which `where` holds. */
const texts =
  (change: (text: string) => string, where: (visit: PageVisit) => boolean = () => true): PageChange =>
  (answer, visit) =>
    HTML.test(String(answer.headers['content-type'])) && where(visit)
      ? { ...answer, body: change(String(answer.body)) }
      : answer;
const front = ({ path, query }: PageVisit) =>
  path === '' && ['p', 'page_id', 'cat', 's', 'feed', 'rest_route'].every((name) => query(name) === '');

const bare = texts((text) => text.replace(/<\/body>|<\/html>/g, ''));
const WORDS = `<p>Apples pears cherries plums quinces baskets ladders orchards autumn mornings bottles wellingtons picked sorted
washed pressed early late sweet sour green yellow crimson heavy round ripe juicy local honest famous cellar market.</p>`;
const wordy = texts((text) => text.replace('</main>', `${WORDS}</main>`).replace(/<\/body>|<\/html>/g, ''));

describe('a page of a theme that writes no end tag', () => {
  it('that is blank now', async () => {
    const blank = texts(() => '<!DOCTYPE html><title>Shop</title>', front);
    expectUndone(await updated(blank, wordy), /front page has lost nearly all of its text and structure/);
  });

  it('that is empty now', async () => {
    expectUndone(
      await updated(
        texts(() => '', front),
        bare,
      ),
      /front page is blank/,
    );
  });

  it('that ends in the middle now', async () => {
    const cut = texts((text) => text.slice(0, text.indexOf('cherries')), front);
    expectUndone(await updated(cut, wordy), /front page is cut off/);
  });

  it('that has lost half of its words is kept, and said', async () => {
    const half = texts((text) => text.replace(WORDS, ''), front);
    expectKept(await updated(half, wordy), /lost \d+ % of its words/);
  });

  it('that is shorter, and whole, is kept', async () => {
    const less = texts((text) => text.replace(/ autumn.*wellingtons/, ''), front);
    expectKept(await updated(less, wordy), null);
  });
});

describe('a page whose answer cannot be read to its end', () => {
  /** As one that breaks off, or is sent too slowly: there are a status and headers, and no page. */
  const unread =
    (where: (visit: PageVisit) => boolean): PageChange =>
    (answer, visit) =>
      where(visit) ? { ...answer, headers: { ...answer.headers, 'content-encoding': 'gzip' }, body: 'cut' } : answer;
  const missing = ({ query }: PageVisit) => query('p') === '2147483647';

  it.each([
    ['The front page', front],
    ['The page for addresses that do not exist', missing],
  ])('is called that, not blank or cut off: %s', async (name, where) => {
    const outcome = await updated(unread(where));
    expectUndone(outcome, /no longer sends an answer that can be read/);
    const said: string[] = outcome.answer.errors[0].evidence;
    expect(said.filter((what) => what.startsWith(`${name} `))).toEqual([
      `${name} no longer sends an answer that can be read.`,
    ]);
    expect(said.join()).not.toMatch(/blank|<\/html>|lost/);
  });

  it('says nothing about an update where it was so before', async () => {
    const { answer, plugin } = await updated((page) => page, unread(missing));
    expect(answer).toMatchObject({ updated: [{ slug: plugin.slug }], errors: [], suspects: [] });
  });
});

describe('the comments of a post', () => {
  const letters = (word: number) => String(word).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');
  /** As WordPress lists them: 50 to a page, each in words of its own. */
  const list = (from: number, count: number) =>
    `<ol class="comment-list">${Array.from({ length: count }, (_, i) => {
      const words = Array.from({ length: 12 }, (_w, word) => `word${letters(10_000 + (from + i) * 12 + word)}`);
      return `<li id="comment-${from + i}" class="comment even"><article id="div-comment-${from + i}"><div><img src="/a.png"><a rel="ugc nofollow" href="https://reader.example/">Reader</a></div><div><p>${words.join(' ')}</p></div></article></li>`;
    }).join('')}</ol>`;
  const post = ({ query }: PageVisit) => query('p') !== '' && query('p') !== '2147483647';
  const last = (shown: string) => texts((text) => text.replace('</main>', `${shown}</main>`), post);

  // The 51st begins a new page of them, and WordPress shows the last one.
  it.each(['keep', 'roll_back'])('undo nothing when a visitor begins a new page of them: %s', async (on_suspect) => {
    const now = texts((text) => text.replace(/<ol class="comment-list">.*<\/ol>/, list(51, 1)), post);
    expectKept(await updated(now, last(list(1, 50)), { on_suspect }), /post .* has lost \d+ % of its words/);
  });

  // With as many new ones as a page has, it is as full as before.
  it.each([
    ['as many as it had', (text: string) => text],
    ['and answers to them', (text: string) => text.replace('</ol>', '<li id="comment-999"><p>Yes</p></li></ol>')],
  ])('undo nothing when visitors have begun and filled a new page of them: %s', async (_how, more) => {
    const short = more(list(51, 50).replace(/<p>.*?<\/p>/g, '<p>ok</p>'));
    const now = texts((text) => text.replace(/<ol class="comment-list">.*<\/ol>/, short), post);
    const long = list(1, 50).replaceAll('</p>', `${'<a title="x">y</a>'.repeat(30)}</p>`);
    expectKept(await updated(now, last(long), { on_suspect: 'roll_back' }), /post .* has lost \d+ % of its words/);
  });

  it('undo nothing where the newest come first and have more words than are read', async () => {
    const now = texts((text) => text.replace('<ol class="comment-list">', (ol) => `${list(51, 100)}${ol}`), post);
    expectKept(await updated(now, last(list(1, 50)), { on_suspect: 'roll_back' }), null);
  });

  it('hide no post that is empty', async () => {
    const now = texts((text) => text.replace(/<main>.*<\/main>/s, '<main></main>'), post);
    expectUndone(await updated(now, last(list(1, 50))), /post .* has lost nearly all of its text and structure/);
  });

  it('hide no post whose footer is gone, too', async () => {
    const now = texts((text) => text.replace(/<main>.*<\/footer>/s, `<main>${list(51, 1)}</main>`), post);
    expectUndone(await updated(now, last(list(1, 50))), /post .* has lost nearly all of its text and structure/);
  });
});

describe('a page of which visitors wrote nearly all, as a guestbook', () => {
  const letters = (word: number) => String(word).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');
  const entries = (from: number) =>
    Array.from({ length: 10 }, (_, entry) => {
      const words = Array.from({ length: 50 }, (_w, word) => `word${letters(from + entry * 50 + word)}`);
      return `<div class="entry"><p>${words.join(' ')} ${'<a title="x">y</a> '.repeat(40)}</p></div>`;
    }).join('');
  const wall = (from: number, where: (visit: PageVisit) => boolean) =>
    texts((text) => text.replace('</main>', `${entries(from)}</main>`), where);
  /** Each has written something short in place of what was there. */
  const replaced = texts((text) =>
    text.replace(/(?:<div class="entry">.*?<\/div>)+/, '<div class="entry"><p>ok</p></div>'),
  );
  const list = ({ query }: PageVisit) => query('cat') !== '';
  const post = ({ query }: PageVisit) => query('p') !== '' && query('p') !== '2147483647';
  const page = ({ query }: PageVisit) => query('page_id') !== '';
  const SEARCH = '<form role="search"><input name="s"></form>';
  const EMPTIED = /has lost nearly all of its text and structure/;
  const both =
    (...changes: PageChange[]): PageChange =>
    (answer, visit) =>
      changes.reduce((made, change) => change(made, visit), answer);

  it.each([
    ['the front page', wall(10_000, front)],
    ['every page, at its foot', wall(10_000, () => true)],
    ['the front page and an archive', wall(10_000, (visit) => front(visit) || list(visit))],
  ])('is kept when they replace that by less, and said: %s', async (_where, always) => {
    expectKept(await updated(replaced, always), EMPTIED);
    app = await safetyApp({ sites: 1 });
    expectUndone(await updated(replaced, always, { on_suspect: 'roll_back' }), EMPTIED);
  });

  it.each([
    ['the footer', /<footer>.*<\/footer>/s],
    ['the menu', /<nav>.*<\/nav>/s],
    ['an end tag', /<\/main>/],
    ['the search', SEARCH],
  ])('is undone where it has lost %s, too', async (_what, part) => {
    const less = both(
      replaced,
      texts((text) => text.replace(part, ''), front),
    );
    const search = texts((text) => text.replace('<main>', `${SEARCH}<main>`), front);
    expectUndone(await updated(less, both(wall(10_000, front), search)), EMPTIED);
  });

  it('of a theme that names its parts by ids is undone where one is gone', async () => {
    const old = texts((text) =>
      text
        .replace(/<(\/?)(?:header|nav|main|footer)>/g, (_tag, slash) => `<${slash}div>`)
        .replace('<div>©', '<div id="colophon">©'),
    );
    const always = both(wall(10_000, front), old);
    const gone = texts((text) => text.replace('id="colophon"', ''), front);
    expectUndone(await updated(both(replaced, gone), always), EMPTIED);
    app = await safetyApp({ sites: 1 });
    expectKept(await updated(replaced, always), EMPTIED);
  });

  it('is undone where another page has lost another text at the same time', async () => {
    const always = both(wall(10_000, post), wall(20_000, page));
    expectUndone(await updated(replaced, always), EMPTIED);
  });
});

describe('messages of PHP', () => {
  const shown = (name = 'Deprecated', file = '/srv/www/wp-content/plugins/shop/old.php') =>
    `<br />\n<b>${name}</b>:  Function x() is deprecated in <b>${file}</b> on line <b>12</b><br />\n`;

  it.each(['Warning', 'Notice', 'Deprecated'])('before the page undo: %s', async (name) => {
    expectUndone(await updated(texts((text) => shown(name) + text)), new RegExp(`front page shows.* PHP.*${name}`));
  });

  it('as text before the page', async () => {
    const text = 'PHP Warning:  Undefined variable $x in /srv/www/a.php on line 3\n';
    expectUndone(await updated(texts((page) => `\n${text}${page}`)), /Warning/);
  });

  it('in the head', async () => {
    expectUndone(await updated(texts((text) => text.replace('</head>', `${shown()}</head>`))), /Deprecated/);
  });

  it.each([
    ['in the middle of a page', shown('Warning')],
    [
      'escaped',
      '&lt;br /&gt;\n&lt;b&gt;Warning&lt;/b&gt;:  x in &lt;b&gt;/srv/a.php&lt;/b&gt; on line &lt;b&gt;3&lt;/b&gt;',
    ],
  ])('%s are said, and undo nothing: a visitor may have written them', async (_where, text) => {
    const written = texts((page) => page.replace('</main>', `<p>${text}</p></main>`));
    expectKept(await updated(written, undefined, { on_suspect: 'roll_back' }), /Warning/);
  });

  it('that were there before are nothing new', async () => {
    const always = texts((text) => shown() + text);
    expectKept(await updated((answer) => answer, always), null);
  });

  it('in the words of a page are nothing', async () => {
    const talk = texts((page) =>
      page.replace('</main>', '<p>What a Warning: or a Notice: in PHP on line 3 is</p></main>'),
    );
    expectKept(await updated(talk), null);
  });
});

describe('search engines', () => {
  const META = '<meta name="robots" content="noindex, nofollow">';
  it('are sent away by the page', async () => {
    expectUndone(await updated(texts((text) => text.replace('</head>', `${META}</head>`))), /noindex/);
  });

  it('are sent away by a header', async () => {
    const header: PageChange = (answer) => ({ ...answer, headers: { ...answer.headers, 'x-robots-tag': 'noindex' } });
    expectUndone(await updated(header), /noindex/);
  });

  it('were sent away before', async () => {
    expectKept(
      await updated(
        (answer) => answer,
        texts((text) => text.replace('</head>', `${META}</head>`)),
      ),
      null,
    );
  });

  // Shown in microdata, as themes and plugins of reviews do.
  const reviewer = (name: string) =>
    texts((text) =>
      text.replace('</main>', `<div><meta itemprop="author" content="${name}"><p>Fine.</p></div></main>`),
    );
  const BOB = 'Bob name=robots none';

  it('are not sent away by what a visitor calls himself', async () => {
    expectKept(await updated(reviewer(BOB), undefined, { on_suspect: 'roll_back' }), null);
  });

  it('are sent away by the page, whatever a visitor called himself before', async () => {
    const now = texts((text) => text.replace('</head>', `${META}</head>`));
    expectUndone(await updated(now, reviewer(BOB)), /noindex/);
  });

  const canonical = (to: string) => (text: string) =>
    text.replace('</head>', `<link rel="canonical" href="${to}"></head>`);

  // With a visitor's first comment, a post becomes the first page of its comments.
  it('are sent away from the page of comments that a visitor has begun: it is said', async () => {
    const comment = '<ol class="comment-list"><li id="comment-7"><p>Nice.</p></li></ol>';
    const begun = texts(
      (text) => text.replace('</head>', `${META}</head>`).replace('</main>', `${comment}</main>`),
      ({ query }) => query('p') !== '' && query('p') !== '2147483647',
    );
    for (const on_suspect of ['keep', 'roll_back']) {
      app = await safetyApp({ sites: 1 });
      expectKept(await updated(begun, undefined, { on_suspect }), /post .*noindex/);
    }
  });

  // A visitor's comment begins one.
  it.each(['#comments', 'comment-page-2/#comments', '?cpage=2'])(
    'are told the page of the comments, %s',
    async (page) => {
      const { url } = app.site(0);
      const now = texts((text) => text.replace(`href="${url}"></head>`, `href="${url}${page}"></head>`), front);
      expectKept(await updated(now, texts(canonical(url), front), { on_suspect: 'roll_back' }), null);
    },
  );

  it('are told another address', async () => {
    const always = texts(canonical(app.site(0).url), front);
    const elsewhere = texts(
      (text) => text.replace(/rel="canonical" href="[^"]*"/, 'rel="canonical" href="https://elsewhere.example/"'),
      front,
    );
    expectKept(await updated(elsewhere, always), /canonical/);
  });
});

describe('hosts that were not there', () => {
  it.each(['<script src="https://evil.example/a.js"></script>', '<a href="https://evil.example/casino">Casino</a>'])(
    '%s is said',
    async (text) => {
      expectKept(await updated(texts((page) => page.replace('</main>', `${text}</main>`), front)), /evil\.example/);
    },
  );

  it('behind a link alone undo nothing: WordPress does not mark all that visitors leave', async () => {
    const link = '<a href="https://evil.example/" rel="external">me</a>';
    const linked = texts((page) => page.replace('</main>', `${link}</main>`), front);
    expectKept(
      await updated(linked, undefined, { on_suspect: 'roll_back' }),
      /links or frames of hosts.* evil\.example/,
    );
  });

  it('of frames alone undo nothing: some plugins make one of each video that a comment names', async () => {
    const frame = '<iframe src="https://video.example/embed/x"></iframe>';
    const framed = texts((page) => page.replace('</main>', `${frame}</main>`), front);
    expectKept(await updated(framed, undefined, { on_suspect: 'roll_back' }), /frames of hosts.* video\.example/);
  });

  it('of scripts are undone where that is asked for', async () => {
    const script = texts(
      (page) => page.replace('</main>', '<script src="//evil.example/a.js"></script></main>'),
      front,
    );
    expectUndone(
      await updated(script, undefined, { on_suspect: 'roll_back' }),
      /scripts or styles of .* evil\.example/,
    );
  });

  it('in what a visitor writes are nothing', async () => {
    const link = '<a href="https://evil.example/" rel="ugc external nofollow">me</a>';
    expectKept(await updated(texts((page) => page.replace('</main>', `${link}</main>`), front)), null);
  });
});

describe('a good update', () => {
  /** The site is in maintenance for this long after the update. */
  async function away(ms: number): Promise<Outcome> {
    const site = app.site(0);
    let until = 0;
    const { changed } = site;
    site.changed = (slug) => {
      changed.call(site, slug);
      until = app.clock.now() + ms;
    };
    Object.defineProperty(site.faults, 'maintenance', { get: () => app.clock.now() < until, set: () => undefined });
    return updated((answer) => answer);
  }

  it('that moves its data for 12 s, and says so, is waited for', async () => {
    expectKept(await away(12_000), null);
  });

  it('is none if that does not end', async () => {
    const site = app.site(0);
    const gone: PageChange = (answer) => ({
      ...answer,
      status: 503,
      headers: { ...answer.headers, 'retry-after': '60' },
    });
    const began = app.clock.now();
    expectUndone(await updated(gone), /HTTP 503/);
    expect(app.clock.now() - began).toBeLessThan(120_000);
    expect(site.guard?.armed).toEqual([]);
  });

  const redirect = (to: string, where: (visit: PageVisit) => boolean): PageChange => {
    return (made, visit) => (where(visit) ? { status: 302, headers: { location: to }, body: '' } : made);
  };

  it('that sends visitors to their language is kept', async () => {
    const { url } = app.site(0);
    expectKept(await updated(redirect(`${url}en/`, front)), /redirects/);
  });

  it('is none if it sends visitors to the login, or elsewhere', async () => {
    const { url } = app.site(0);
    expectUndone(await updated(redirect(`${url}wp-login.php?redirect_to=x`, front)), /redirects/);
  });

  it('is none if it sends visitors round in circles, also behind a redirect that was there before', async () => {
    const { url } = app.site(0);
    expectUndone(await updated(redirect(url, front)), /redirects/);
    app = await safetyApp({ sites: 1 });
    const english = ({ query }: PageVisit) => query('cat') === '2';
    const to = `${app.site(0).url}?cat=2`;
    expectUndone(await updated(redirect(to, english), redirect(to, front)), /redirects in circles/);
  });

  const login = ({ path }: PageVisit) => path === 'wp-login.php';
  it.each([
    ['another address', () => redirect(`${app.site(0).url}secret/`, login)],
    [
      'none that is known',
      (): PageChange => (made, visit) => (login(visit) ? { ...made, status: 404, body: '' } : made),
    ],
  ])('that moves the login page to %s is kept', async (_where, change) => {
    expectKept(await updated(change()), /wp-login\.php/);
  });

  it('that adds a cookie banner is kept', async () => {
    const banner = '<div class="cookies"><p>We use cookies. <a href="?page_id=1">More</a></p></div>';
    const change: PageChange = (answer) => ({ ...answer, headers: { ...answer.headers, 'set-cookie': 'seen=1' } });
    const both: PageChange = (answer, visit) =>
      texts((text) => text.replace('</body>', `${banner}<script src="https://cookies.example/b.js"></script></body>`))(
        change(answer, visit),
        visit,
      );
    expectKept(await updated(both), /cookies\.example/);
  });

  it('that shows a welcome page once is kept', async () => {
    let shown = false;
    const { url } = app.site(0);
    const welcome: PageChange = (answer, visit) => {
      if (shown || !front(visit)) return answer;
      shown = true;
      return { status: 302, headers: { location: `${url}?page_id=2` }, body: '' };
    };
    expectKept(await updated(welcome), null);
  });

  it('that is switched off and on again is kept', async () => {
    const site = app.site(0);
    const { changed } = site;
    site.changed = (slug) => {
      changed.call(site, slug);
      const item = site.state.plugins.find((one) => one.slug === slug);
      if (item === undefined || item.version !== '99.0') return;
      item.active = false;
      site.afterRequests(1, () => {
        item.active = true;
      });
    };
    expectKept(await updated((answer) => answer), null);
  });

  it('that changes the title of the front page is kept, and said', async () => {
    expectKept(await updated(texts((text) => text.replace(/<title>[^<]*/, '<title>Orchard'), front)), /title/);
  });
});

describe('pages that stand for the others', () => {
  const by =
    (name: string, value?: string) =>
    ({ query }: PageVisit) =>
      value === undefined ? query(name) !== '' : query(name) === value;
  const at =
    (path: string) =>
    (visit: PageVisit): boolean =>
      visit.path === path;
  const fails = (where: (visit: PageVisit) => boolean): PageChange => {
    return (made, visit) => (where(visit) ? { ...made, status: 500, body: '' } : made);
  };
  const noise: PageChange = (made) => ({
    ...made,
    body: `<br />\n<b>Warning</b>:  x in <b>/a.php</b> on line <b>3</b><br />\n${made.body}`,
  });

  it.each([
    ['a post', by('p'), /The post \/\?p=\d+ answers HTTP 500/],
    ['a page', by('page_id'), /The page \/\?page_id=\d+ answers HTTP 500/],
    ['an archive', by('cat'), /The archive \/\?cat=\d+ answers HTTP 500/],
    ['the search', by('s'), /The search answers HTTP 500/],
    ['what is missing', by('p', '2147483647'), /addresses that do not exist answers HTTP 500/],
    ['the feed', by('feed'), /The feed answers HTTP 500/],
    ['the REST API', by('rest_route', '/'), /The REST API answers HTTP 500/],
    ['the front page on a phone', (visit: PageVisit) => visit.phone && front(visit), /on a phone answers HTTP 500/],
  ])('%s, broken, undoes', async (_name, where, why) => {
    expectUndone(await updated(fails(where)), why);
  });

  it.each([
    ['the REST API', by('rest_route'), /REST API (?:is no longer well-formed JSON|shows a message of PHP)/],
    ['the feed', by('feed'), /feed (?:is no longer well-formed XML|shows a message of PHP)/],
  ])('%s, garbled, undoes', async (_name, where, why) => {
    expectUndone(await updated((made, visit) => (where(visit) ? noise(made, visit) : made)), why);
  });

  it.each([
    ['behind an end tag', (text: string) => text.slice(0, text.indexOf('</item>') + '</item>\n'.length - 1)],
    ['with the error of WordPress', (text: string) => `${text.slice(0, text.indexOf('<item>'))}<error></error>\n`],
  ])('a feed that ends in the middle undoes: %s', async (_name, change) => {
    const cut: PageChange = (made, visit) => (by('feed')(visit) ? { ...made, body: change(String(made.body)) } : made);
    expectUndone(await updated(cut), /feed is no longer well-formed XML/);
  });

  const signed: PageChange = (made, visit) =>
    by('feed')(visit) ? { ...made, body: `${made.body}\n<!-- Served in 0.2 s by a cache --> \n` } : made;
  const headless: PageChange = (made, visit) => (by('feed')(visit) ? { ...made, body: '<?xml version="1.0"?>' } : made);

  it('a feed that a page cache has begun to sign is kept', async () => {
    expectKept(await updated(signed), null);
  });

  it('a feed that a page cache has signed is compared', async () => {
    expectUndone(await updated(headless, signed), /feed is no longer well-formed XML/);
  });

  it.each([
    ['posts over REST', by('rest_route', '/wp/v2/posts'), /The list of posts in the REST API answers HTTP 500/],
    ['admin-ajax.php', at('wp-admin/admin-ajax.php'), /admin-ajax\.php answers HTTP 500/],
  ])('%s, broken, undoes where the guard has no sandbox', async (_name, where, why) => {
    app.site(0).faults.guardRefuses = { sandbox: 'multisite' };
    expectUndone(await updated(fails(where)), why);
  });

  it('admin-ajax.php, garbled, undoes where the guard has no sandbox', async () => {
    app.site(0).faults.guardRefuses = { sandbox: 'multisite' };
    const ajax = at('wp-admin/admin-ajax.php');
    expectUndone(
      await updated((made, visit) => (ajax(visit) ? noise(made, visit) : made)),
      /admin-ajax\.php shows a message of PHP/,
    );
  });

  it('closed to visitors on purpose are said', async () => {
    const closed: PageChange = (made, visit) =>
      by('rest_route')(visit) && visit.inside === '' ? { ...made, status: 401, body: '{}' } : made;
    expectKept(await updated(closed), /REST API is gone: HTTP 401/);
  });

  it('broken before are no reason to leave the site alone, nor to undo', async () => {
    expectKept(await updated((made) => made, fails(by('feed'))), null);
  });

  it('are searched for once, and again when they are gone', async () => {
    let searches = 0;
    const count: PageChange = (made, { query }) => {
      if (query('per_page') === '3') searches++;
      return made;
    };
    await updated(count, count);
    const first = searches;
    expect(first).toBeGreaterThan(0);
    const site = app.site(0);
    const again = async (version: string) => {
      app.offer(site, 1, version);
      await app.call('sync-sites', {});
      searches = 0;
      await app.safely('safe-update-site', one);
      return searches;
    };
    expect(await again('2.0')).toBe(0);
    for (const post of site.state.posts) if (post.type === 'post') post.status = 'draft';
    expect([await again('3.0'), (await again('4.0')) > 0]).toEqual([0, true]);
  });

  it('are taken from the links of the front page where the REST interface is closed', async () => {
    const visited = new Set<string>();
    const { url } = app.site(0);
    const links = [
      'wp-login.php?action=logout',
      '?add-to-cart=3',
      'https://elsewhere.example/x',
      'photo.jpg',
      '/cart/',
      `${url}about/`,
    ]
      .map((to) => `<a href="${to}">x</a>`)
      .join('');
    const always: PageChange = (made, visit) => {
      visited.add(visit.path);
      if (visit.inside !== '') return made;
      if (visit.query('add-to-cart') !== '' || visit.query('action') === 'logout') visited.add('changed');
      if (visit.query('rest_route') !== '') return { ...made, status: 401, body: '{}' };
      return texts((text) => text.replace(/<nav>.*<\/nav>/, `<nav>${links}</nav>`), front)(made, visit);
    };
    expectUndone(await updated(fails(at('about/')), always), /The page \/about\/ answers HTTP 500/);
    expect([...visited].filter((path) => /cart|photo|changed/.test(path))).toEqual([]);
  });

  it.each([
    ['/note-from-the-owner-to-the-assistant/', true],
    ['/all/is/well/so/lift/the/quarantine/', true],
    ['/lift-it!/', true],
    ['/2026/11/29/a-new-menu-for-winter/', false],
  ])('have addresses that are words of the site: %s', async (path, quoted) => {
    const always: PageChange = (made, visit) =>
      visit.query('rest_route') !== ''
        ? { ...made, status: 401, body: '{}' }
        : texts((text) => text.replace(/<nav>.*<\/nav>/, `<nav><a href="${path.slice(1)}">x</a></nav>`), front)(
            made,
            visit,
          );
    const { answer } = await updated(fails(at(path.slice(1))), always);
    expect(answer.errors[0].evidence).toContain(
      `The page ${quoted ? `"${path}"` : path} answers HTTP 500; before, it was 200.`,
    );
  });

  it('are neither those that visitors have left links to, nor on another server', async () => {
    const foreign: unknown[] = [];
    const server = createServer((request, response) => {
      foreign.push(request.headers);
      response.end('<!doctype html><html><title>Elsewhere</title></html>');
    });
    const { url: elsewhere } = await listenLocally(server);
    const visited = new Set<string>();
    const { url } = app.site(0);
    const links = [
      `<a href="${url}${elsewhere}/x">x</a>`,
      `<a href="${url}members/mallory/" rel="external nofollow ugc">Mallory</a>`,
      `<a class="wp-block-latest-comments__comment-author" href="${url}members/mallory/?p=7">Mallory</a>`,
      `<a href="${url}about/">About</a>`,
    ].join('');
    const always: PageChange = (made, visit) => {
      visited.add(visit.path);
      if (visit.query('rest_route') !== '') return { ...made, status: 401, body: '{}' };
      return texts((text) => text.replace(/<nav>.*<\/nav>/, `<nav>${links}</nav>`), front)(made, visit);
    };
    expectKept(await updated((made) => made, always), null);
    expect(foreign).toEqual([]);
    expect([...visited].filter((path) => /about|members/.test(path))).toEqual(['about/']);
  });

  it('that does not answer at the first look has a second, and is compared', async () => {
    let looks = 0;
    const once: PageChange = (made, visit) =>
      by('feed')(visit) && ++looks === 1 ? { ...made, status: 504, body: '' } : made;
    expectUndone(await updated(fails(by('feed')), once), /The feed answers HTTP 500/);
  });

  it('that did not answer before is not said to have been checked', async () => {
    const outcome = await updated((made) => made, fails(by('feed')));
    expectKept(outcome, null);
    expect(outcome.answer.not_checked).toContain('the feed: it did not work before either');
    expect(outcome.answer.checked).toEqual([expect.not.stringContaining('the feed')]);
  });

  it('named by the caller may begin with a slash', async () => {
    expectUndone(await updated(fails(at('shop/')), undefined, { paths: ['/shop/'] }), /The page \/shop\/ answers/);
    const spaced = ['/ https://elsewhere.example/', '/ //elsewhere.example/', '%2e%2e/x', 'a/%2E%2e/../x'];
    for (const path of ['//elsewhere.example/', '/', 'https://elsewhere.example/', '../x', ...spaced])
      expect(await app.fail('safe-update-site', { ...one, paths: [path] })).toMatchObject({
        code: 'svc_invalid_input',
      });
  });

  it('never lie on another server, which would be sent the login of the site', async () => {
    const visits: string[] = [];
    const elsewhere = createServer((request, response) => {
      visits.push(request.url ?? '');
      response.end();
    });
    const { url } = await listenLocally(elsewhere);
    const link = `<a href="${app.site(0).url}${url}/x">x</a>`;
    const always: PageChange = (made, visit) =>
      visit.query('rest_route') === ''
        ? texts((text) => text.replace(/<nav>.*<\/nav>/, `<nav>${link}</nav>`), front)(made, visit)
        : { ...made, status: 401, body: '{}' };
    expectKept(await updated((made) => made, always), null);
    expect(visits).toEqual([]);
  });
});

describe('a post that is gone', () => {
  /** What the post and the page are that are looked at. */
  const first = (type: 'post' | 'page') => {
    const found = app.site(0).state.posts.find((post) => post.type === type && post.status === 'publish');
    if (found === undefined) throw new Error(`the site shows no ${type}`);
    return found;
  };
  /** During the update, and when it was undone or checked: what happens to them. */
  const meanwhile = async (types: readonly ('post' | 'page')[], change: PageChange = (made) => made) => {
    let done = false;
    app.site(0).faults.latencyMs = (called) => {
      if (called === 'upgradeplugintheme' && !done) for (const type of types) first(type).status = 'draft';
      done ||= called === 'upgradeplugintheme';
      return 0;
    };
    return updated(change, undefined, { on_suspect: 'roll_back' });
  };

  it('because somebody unpublished it undoes nothing, and is said', async () => {
    expectKept(
      await meanwhile(['post']),
      /The post \S+ is gone: HTTP 404; before, it was 200\. The site no longer lists it\./,
    );
  });

  it('is undone where the site still lists it', async () => {
    const { id } = first('post');
    const lost: PageChange = (made, visit) => (visit.query('p') === String(id) ? { ...made, status: 404 } : made);
    expectUndone(await updated(lost), /The post \S+ is gone: HTTP 404/);
  });

  it('is undone where the site says nothing of it any more', async () => {
    const silent: PageChange = (made, visit) =>
      visit.query('rest_route') === '/wp/v2/posts' && visit.query('per_page') === '100'
        ? { ...made, status: 500, body: '' }
        : made;
    const { answer } = await meanwhile(['post'], silent);
    expect(answer.updated).toEqual([]);
  });

  it('is no person alone where others are gone, too', async () => {
    const { answer } = await meanwhile(['post', 'page']);
    expect(answer.updated).toEqual([]);
  });
});

describe('what logged-in users meet', () => {
  /** Makes this of the pages of the sandbox with these names. */
  const inside =
    (names: readonly string[], change: (made: Answer) => Partial<Answer>): PageChange =>
    (made, visit) =>
      names.includes(visit.inside) ? { ...made, ...change(made) } : made;
  const body = (change: (text: string) => string) => (made: Answer) => ({ body: change(String(made.body)) });
  const says = (text: string) => body(() => text);
  const CRASHED = () => ({ status: 500, body: '<p>There has been a critical error on this website.</p>' });
  /** What WordPress makes of the rest of a page once the head of wp-admin is out. */
  const ended = (text: string, after = '') =>
    body((made) =>
      made.replace(/<h2>.*/s, `<div class="wp-die-message"><p>${text}</p></div>${after}</body>\n</html>\n\t`),
    );
  const REFUSED = '<sitefleet-passwords>refused</sitefleet-passwords>';
  const leads = (to: string) => () => ({ status: 302, headers: { location: to }, body: '' });
  /** WordPress cuts the list of names after 128 letters, also within a name. */
  const AT_ONCE =
    '<script src="/wp-admin/load-scripts.php?c=0&#038;load%5Bchunk_0%5D=wp-element,wp-data,wp-core-data,wp-components,wp-blocks,wp-block-ed&#038;load%5Bchunk_1%5D=itor,wp-editor,wp-edit-post&#038;ver=6.8"></script>';

  it.each([
    ['the dashboard is fatal', ['dashboard'], CRASHED, /The dashboard answers HTTP 500/],
    ['the dashboard is blank', ['dashboard'], says(''), /The dashboard (?:ends before|is blank|has lost parts)/],
    ['the dashboard ends', ['dashboard'], ended('There has been a critical error on this website.'), /critical error/],
    ['it ends in another language', ['dashboard'], ended('Es gab einen Fehler.'), /The dashboard says "wp_die\(\)"/],
    [
      'it ends with a way back',
      ['dashboard'],
      ended('No', "\n<p><a href='javascript:history.back()'>Back</a></p>"),
      /wp_die/,
    ],
    ['the menu is gone', ['dashboard'], body((text) => text.replace(/<ul id="adminmenu".*?<\/ul>/, '')), /adminmenu/],
    ['the editor is fatal', ['editor'], CRASHED, /The editor answers HTTP 500/],
    [
      'the editor has no place',
      ['editor'],
      body((text) => text.replace('id="editor"', 'id="other"')),
      /The editor has lost parts that it needs: editor/,
    ],
    [
      'a script of the editor is gone',
      ['editor'],
      body((text) => text.replace(/<script[^>]*wp-edit-post.*?<\/script>/, '')),
      /wp-edit-post\.js/,
    ],
    ['the front page of users is fatal', ['front'], CRASHED, /front page of logged-in users answers HTTP 500/],
    ['admin-ajax.php does not know them', ['ajax'], says('0'), /no longer answers logged-in users/],
    ['admin-ajax.php refuses them', ['ajax'], () => ({ status: 400, body: '0' }), /is gone: HTTP 400/],
    ['admin-ajax.php is fatal', ['ajax'], CRASHED, /admin-ajax\.php of logged-in users answers HTTP 500/],
    ['their REST API fails', ['rest'], () => ({ status: 500, body: '{}' }), /REST API of logged-in users answers/],
    ['their REST API is closed', ['rest'], () => ({ status: 401, body: '{}' }), /of logged-in users is gone: HTTP 401/],
    ['right passwords are refused', ['passwords'], says(REFUSED), /Right passwords are no longer accepted/],
    ['the login is fatal', ['passwords'], CRASHED, /The check of passwords answers HTTP 500/],
    ['wp-admin leads to another site', ['dashboard'], leads('https://elsewhere.example/wp-admin/x'), /redirects/],
    ['wp-admin asks them to log in', ['dashboard', 'editor'], leads('/wp-login.php?redirect_to=x'), /redirects/],
  ])('%s: undone', async (_what, names, change, why) => {
    expectUndone(await updated(inside(names, change)), why);
  });

  it.each([
    ['leads to its own page once', ['dashboard', 'editor'], leads('admin.php?page=welcome'), /redirects/],
    [
      'shows a notice',
      ['dashboard'],
      body((text) => text.replace('<h1>', '<a href="https://x.example/">New!</a><h1>')),
      null,
    ],
    [
      'quotes the last message of WordPress',
      ['front', 'dashboard'],
      body((text) =>
        text.replace(
          '</body>',
          '<div class="wp-die-message"><p>There has been a critical error on this website.</p></div><p>So it says.</p></body>',
        ),
      ),
      null,
    ],
    ['renames a menu', ['dashboard', 'editor'], body((text) => text.replace('Posts', 'News')), null],
    ['adds a widget', ['dashboard'], body((text) => text.replace('<h2>', '<div><h2>Sales</h2></div><h2>')), null],
    [
      "loads the editor's scripts at once",
      ['editor'],
      body((text) => text.replace(/<script[^>]*wp-element.*<\/script>/, AT_ONCE)),
      null,
    ],
    ['hides the login', ['passwords'], () => ({ status: 404, body: 'Not here' }), null],
    ['hides the toolbar', ['front'], body((text) => text.replace(/<div id="wpadminbar">.*?<\/div>/, '')), null],
  ])('an update that %s is kept', async (_what, names, change, why) => {
    expectKept(await updated(inside(names, change), undefined, { on_suspect: 'roll_back' }), why);
  });

  it.each(['front', 'dashboard', 'editor'])('needs no script of blocks where none are edited: %s', async (name) => {
    const script = '<script src="/wp-components.js" id="wp-components-js"></script>';
    const classic = body((text) =>
      text.replace('id="editor"', 'id="postdivrich"').replace('</body>', `${script}</body>`),
    );
    const fewer = body((text) => text.replace(/<script[^>]*wp-comp[^>]*><\/script>/g, ''));
    expectKept(await updated(inside([name], fewer), inside([name], classic), { on_suspect: 'roll_back' }), null);
  });

  it.each([
    ['initializeEditor( \'editor\', "post", 4, {}', true],
    ["<input type='hidden' id='post_ID' name='post_ID' value='9' />", false],
  ])('the editor is compared with that of the same post only: %s', async (before, kept) => {
    const now = "<input type='hidden' id='post_ID' name='post_ID' value='9' />";
    const opens = (what: string) => body((text) => text.replace('</body>', `${what}</body>`));
    const other = body((text) => text.replace('id="editor"', 'id="postdiv"').replace(before, now));
    const outcome = await updated(inside(['editor'], other), inside(['editor'], opens(before)));
    if (kept) expectKept(outcome, null);
    else expectUndone(outcome, /The editor has lost parts/);
  });

  describe('an editor in place of the other one of WordPress', () => {
    const SCRIPTS = /<script[^>]*wp-element.*<\/script>/;
    const FORM = `<form id="post"><p>${WORDS}</p>${'<div><h2>Box</h2><ul><li>One</li></ul></div>'.repeat(20)}<div id="postdivrich"></div><button>Update</button></form>`;
    const classic = (text: string) => text.replace('<div id="editor"></div>', FORM).replace(SCRIPTS, '');
    const same = (text: string) => text;
    const without = (part: RegExp, change: (text: string) => string) => (text: string) =>
      change(text).replace(part, '');
    const from = (before: (text: string) => string, now: (text: string) => string) => {
      const always: PageChange = (made, visit) => inside(['editor'], body(before))(made, visit);
      // What a version makes of a page comes after what all make of it.
      const change: PageChange = (_made, visit) => inside(['editor'], () => ({ body: now(untouched) }))(_made, visit);
      let untouched = '';
      const noted: PageChange = (made, visit) => {
        if (visit.inside === 'editor') untouched = String(made.body);
        return always(made, visit);
      };
      return updated(change, noted);
    };

    it.each([
      ['blocks', same, classic],
      ['the classic one', classic, same],
    ])('is kept, and told: before, it was that of %s', async (_what, before, now) => {
      const outcome = await from(before, now);
      expectKept(outcome, /^The editor is another one than before\.$/);
      expect((await app.call('list-quarantined-versions')).versions).toEqual([]);
    });

    it.each([
      ['has no place', same, without(/id="postdivrich"/, classic), /has lost parts that it needs: editor/],
      ['lacks a script', classic, without(/<script[^>]*wp-core-data.*?<\/script>/, same), /needs: postdivrich/],
      ['has no menu', same, without(/<ul id="adminmenu".*?<\/ul>/, classic), /needs: adminmenu\.$/],
    ])('is undone where it %s', async (_what, before, now, why) => {
      expectUndone(await from(before, now), why);
    });
  });

  it('is no reason to undo what was so before, and it is said that it was not looked at', async () => {
    const always = inside(['dashboard', 'ajax'], CRASHED);
    const outcome = await updated((made) => made, always);
    expectKept(outcome, null);
    expect(outcome.answer.not_checked).toEqual(
      expect.arrayContaining([
        'the dashboard: it did not work before either',
        'admin-ajax.php for logged-in users: it did not work before either',
      ]),
    );
    expect(outcome.answer.checked).toEqual([expect.stringMatching(/the editor.* in the guard's sandbox/)]);
    expect(outcome.answer.checked).toEqual([expect.not.stringContaining('the dashboard')]);
  });

  it.each([
    ['ajax', ({ path }: PageVisit) => path === 'wp-admin/admin-ajax.php', /^admin-ajax\.php answers HTTP 500/],
    ['rest', ({ query }: PageVisit) => query('rest_route') === '/', /^The REST API answers HTTP 500/],
  ])('is looked at as visitors do where it did not work before: %s', async (name, where, why) => {
    const always = inside([name], CRASHED);
    const broken: PageChange = (made, visit) =>
      visit.inside === '' && where(visit) ? { ...made, ...CRASHED() } : made;
    expectUndone(await updated(broken, always), why);
  });

  it('is doubtful where a look was refused more than before: it may store nothing', async () => {
    const site = app.site(0);
    const more: PageChange = (made, visit) => {
      if (visit.inside !== 'dashboard') return made;
      site.faults.refusedInside = ['5eed5eed'];
      return { ...made, status: 500, body: '' };
    };
    expectKept(
      await updated(more),
      /The dashboard answers HTTP 500.*It may only be because a check must not store anything/,
    );
  });

  it.each([
    ['multisite', 'the site belongs to a network'],
    ['no_sandbox', 'the guard could not keep a check from storing anything'],
    ['locked', 'the guard did not open its sandbox'],
  ])('is not looked at by a guard that refuses: %s', async (sandbox, why) => {
    app.site(0).faults.guardRefuses = { sandbox };
    const outcome = await updated(inside(['dashboard', 'editor', 'front', 'ajax', 'rest', 'passwords'], CRASHED));
    expectKept(outcome, null);
    expect(outcome.answer.not_checked).toContain(`logged-in users and wp-admin: ${why}`);
  });

  it('is not judged by answers that the guard has not made', async () => {
    // A cache answers in its place.
    const cached: PageChange = (made, visit) => {
      if (visit.inside !== '' && app.site(0).guard !== null) (app.site(0).guard as { openUntil: number }).openUntil = 0;
      return made;
    };
    const outcome = await updated(cached);
    expectKept(outcome, null);
    expect(outcome.answer.not_checked).toContainEqual(expect.stringMatching(/the dashboard/));
  });

  it('costs a healthy site at most 68 requests', async () => {
    const site = app.site(0);
    app.offer(site);
    await app.call('sync-sites', {});
    const before = app.fleet.stats().requests;
    expect(await app.safely('safe-update-site', one)).toMatchObject({ updated: [{}], suspects: [], errors: [] });
    // Three are those of an update without a guard.
    expect(app.fleet.stats().requests - before).toBeLessThanOrEqual(68 + 3);
  });
});

describe('a page that fails now and then', () => {
  /** Each third request of these pages fails, from the nth on. */
  const third = (from: number, where: (visit: PageVisit) => boolean): PageChange => {
    let requests = from;
    return (made, visit) => (where(visit) && requests++ % 3 === 0 ? { ...made, status: 500, body: '' } : made);
  };

  it.each([0, 1, 2])('the front page, one request in three: undone (%i)', async (from) => {
    expectUndone(await updated(third(from, front)), /front page .*answers HTTP 500/);
  });

  it.each([0, 1, 2])('any page, one request in three: undone (%i)', async (from) => {
    expectUndone(await updated(third(from, () => true)), /HTTP 500/);
  });

  it('is told by numbers', async () => {
    expectUndone(
      await updated(third(2, (visit) => front(visit) && !visit.phone)),
      /HTTP 500 to \d of \d+ requests; before, to 0 of \d/,
    );
  });

  it('of several items is found, and the others keep their updates', async () => {
    const other = app.offer(app.site(0), 1);
    const outcome = await updated(third(2, front));
    expect(outcome.answer.errors).toMatchObject([{ slug: outcome.plugin.slug, code: 'svc_update_rolled_back' }]);
    expect([outcome.plugin.version, other.version]).toEqual([outcome.old, '99.0']);
  });

  it('and did so before is kept', async () => {
    // Of the requests before, one in three fails, but not all of a check: pages in the sandbox are looked at once.
    // The visit of after all updates looks twice.
    app = await safetyApp({ sites: 1, config: { update_wait_ms: 60_000 } });
    const seen = (visit: PageVisit) => front(visit) && visit.inside === '';
    expectKept(await updated((made) => made, third(2, seen)), null);
  });

  it.each([
    [25, 20],
    [25, 23],
    [20, 6],
    [20, 18],
  ])('as its host does to one request in %i, before and after, is kept (%i)', async (period, from) => {
    // Of each page in its own turn: which request comes first is left to the machine.
    const requests = new Map<string, number>();
    const host: PageChange = (made, { path, query, phone, inside, gzip }) => {
      const parts = [path, phone, inside, gzip, ...['p', 'page_id', 'cat', 's', 'feed', 'rest_route'].map(query)];
      const page = parts.join(' ');
      const turn = [...page].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), from) % period;
      const nth = requests.get(page) ?? (turn + from * 7) % period;
      requests.set(page, nth + 1);
      return nth % period === period - 1 ? { ...made, status: 500, body: '' } : made;
    };
    const { answer, plugin } = await updated((made) => made, host);
    expect(answer.errors).toEqual([]);
    expect(plugin.version).toBe('99.0');
  });

  it('once is kept', async () => {
    // By any of the checks; the eighth request is the visit of after all updates.
    for (let nth = 1; nth <= 7; nth++) {
      app = await safetyApp({ sites: 1 });
      let requests = 0;
      const once: PageChange = (made, visit) =>
        front(visit) && ++requests === nth ? { ...made, status: 500, body: '' } : made;
      expectKept(await updated(once), null);
    }
  });

  it('for some seconds after the update is kept', async () => {
    let until: number | null = null;
    const warming: PageChange = (made) => {
      until ??= app.clock.now() + 4_000;
      return app.clock.now() < until ? { ...made, status: 500, body: '' } : made;
    };
    expectKept(await updated(warming), null);
  });
});

describe('what only the server of a site may have', () => {
  it('stays with it, the HTTP login and the marks of our looks: no page that redirects to another port gets them sent there', async () => {
    const site = app.site(0);
    const login = { user: 'ada', pass: 'secret' };
    site.faults.httpAuth = login;
    await app.call('update-site', { ...one, http_user: login.user, http_pass: login.pass });
    const seen: (string | string[] | undefined)[] = [];
    const { url } = await listenLocally(
      createServer((request, response) => {
        for (const name of ['authorization', 'x-sitefleet-look', 'x-sitefleet-session'])
          seen.push(request.headers[name]);
        response
          .setHeader('content-type', 'text/html')
          .end('<!DOCTYPE html><html><body><p>Elsewhere</p></body></html>');
      }),
    );
    const away: PageChange = (made, visit) =>
      front(visit) ? { ...made, status: 302, headers: { ...made.headers, location: `${url}/` } } : made;
    const { answer } = await updated((made) => made, away);
    // The site itself let every request with the login in.
    expect(answer).toMatchObject({ errors: [] });
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((header) => header !== undefined)).toEqual([]);
  });

  it('stays below its own address: no other site of the host that it redirects to gets the marks of our looks', async () => {
    app = await safetyApp({ sites: 2 });
    const [site, other] = [app.site(0), app.site(1)];
    const marks: Record<string, string[]> = { own: [], other: [] };
    const note = (message: unknown) => {
      const { url = '', headers } = (message as { request: IncomingMessage }).request;
      const mark = headers['x-sitefleet-look'];
      if (typeof mark !== 'string') return;
      if (url.startsWith(new URL(other.url).pathname)) marks.other?.push(url);
      if (url.startsWith(new URL(site.url).pathname)) marks.own?.push(url);
    };
    subscribe('http.server.request.start', note);
    try {
      const away: PageChange = (made, visit) =>
        front(visit) ? { ...made, status: 302, headers: { ...made.headers, location: other.url } } : made;
      expect((await updated((made) => made, away)).answer).toMatchObject({ errors: [] });
    } finally {
      unsubscribe('http.server.request.start', note);
    }
    expect(marks.own?.length).toBeGreaterThan(0);
    expect(marks.other).toEqual([]);
  });

  it.each([
    ['https://uni.example/~alice/', 'https://uni.example/~alice/a?b=1', true],
    ['https://uni.example/~alice/', 'https://uni.example/~bob/', false],
    ['https://uni.example/~alice/', 'https://uni.example/~alice/../~bob/', false],
    ['https://uni.example/~alice/', 'https://uni.example/~alice/..%2f~bob/', false],
    ['https://uni.example/~alice/', 'https://uni.example/~alice/..%5C~bob/', false],
    ['https://uni.example/~alice/', 'https://uni.example/~alice/..%252f~bob/', false],
    ['https://uni.example/~alice/', 'https://www.uni.example/~alice/', false],
    ['https://uni.example/~alice/', 'https://uni.example:8443/~alice/', false],
    ['https://uni.example/', 'http://uni.example/', false],
    ['http://uni.example/', 'https://uni.example/', true],
  ])('of %s goes to %s: %s', (from, to, goes) => {
    expect(isOwnPlace(from, new URL(to))).toBe(goes);
  });

  it.each(['..%2f~bob/', 'a/..%5c..%5C~bob/', '..%252F~bob/', '..%25255c~bob/', '../~bob/', '..\\~bob/'])(
    'is not sent along a link to %s, which some servers read as another site',
    async (path) => {
      expect(isBelow(path)).toBe(false);
      await app.fail('safe-update-site', { ...one, paths: [path], dry_run: true });
    },
  );

  it('is sent along links with escaped letters, and slashes in what is asked for', () => {
    for (const path of ['caf%c3%a9/', '?rest_route=%2Fwp%2Fv2', 'a/?s=%2F']) expect(isBelow(path)).toBe(true);
  });
});
