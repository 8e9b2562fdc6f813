/**
 * Updates on real WordPress whose pages are sent whole and look wrong, seen by Chromium; and updates of sites that look
 * different in each look by themselves.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKey } from '../../src/outbound/child/wire/sign.js';
import { SOAK, shortOrLong } from '../robustness/soak.js';
import { bareSite } from '../support/bare-site.js';
import { browserPath } from '../support/chromium.js';
import { type Answer, type TestApp, testApp } from '../support/harness.js';
import { needs } from '../support/needs.js';
import { folderOf, type Kind, NEW_VERSION, on, packageOf, slugOf, writeOld } from './gallery.js';
import { contents } from './tools.js';
import { WORDPRESS, type WordPress, WordPressHost } from './wordpress.js';
import { zip } from './zip.js';

const SITES = 2;

/** A picture of one colour, as a file of the site. */
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="90"><rect width="200" height="90" fill="#284"/></svg>';
const STYLE = `body{font:18px/1.5 serif;margin:0;color:#222}header{background:#134;color:#fff;padding:20px}
nav a{color:#fff;margin-right:20px}nav{display:flex}main{max-width:800px;margin:20px auto;padding:0 20px}
h1{font-size:40px;color:#721}p{margin:0 0 18px}footer{background:#eee;padding:30px;border-top:4px solid #134}
.box{border:2px solid #999;border-radius:8px;padding:12px}.wide{display:grid;grid-template-columns:1fr 1fr;gap:16px}
.a{color:#111}.b{color:#222}.c{color:#333}.d{color:#444}.e{color:#555}.f{color:#666}.g{color:#777}.h{color:#888}
img{max-width:100%}strong{color:#000}em{color:#333}ul{padding:0}li{list-style:square}`;
const PAGE = `<!doctype html>
<html><head><meta charset="utf-8"><title>Shop of the tests</title><meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="<?php echo get_stylesheet_directory_uri(); ?>/look.css"><?php wp_head(); ?></head>
<body><header><strong>Orchard</strong><nav><a href="?p=1">Pears</a> <a href="?page_id=2">Plums</a> <a href="?s=a">Find</a></nav></header>
<main><h1>Welcome</h1><div class="wide"><p class="box">Here stand some words about apples, pears, cherries, plums and quinces, about baskets,
ladders and orchards.</p><p class="box">And about autumn mornings when the fruit is picked, sorted, washed, pressed and bottled by people in
wellingtons.</p></div><?php do_action( 'test_content' ); ?>
<p><img src="<?php echo get_stylesheet_directory_uri(); ?>/one.svg" alt=""> <img src="<?php echo get_stylesheet_directory_uri(); ?>/two.svg" alt=""></p>
<p>Further down are other sentences, which visitors read when they have time: how to prune, when to graft, what to plant beside a wall, and
where the old varieties can still be found today.</p></main>
<footer>Open from Monday to Friday between nine and five.</footer>
<?php wp_footer(); ?></body></html>
`;

const head = (html: string) => on('wp_head', `?>${html}<?php`);
const foot = (html: string) => on('wp_footer', `?>${html}<?php`);
const inContent = (html: string) => on('test_content', `?>${html}<?php`);

interface Seen extends Kind {
  /** Words of the finding. */
  says?: string;
  /** It is not rolled back, and told. */
  kept?: true;
}

/** The HTML of each is whole. */
const BAD: readonly Seen[] = [
  {
    name: 'empties the style sheet of the theme',
    code: on(
      'template_redirect',
      `ob_start( function ( $page ) { return str_replace( '/look.css', '/empty.css', $page ); } );`,
    ),
    says: 'has lost styles of /themes/plain',
  },
  {
    name: 'hides the content',
    code: head('<style>main{visibility:hidden}</style>'),
    says: 'has hidden',
  },
  {
    name: 'hides the header',
    code: head('<style>header{display:none}</style>'),
    says: 'shows no header, nav any more',
    kept: true,
  },
  {
    name: 'covers the content',
    code: foot('<div style="position:fixed;inset:0;background:#fff;z-index:99999"></div>'),
    says: 'has covered',
    kept: true,
  },
  {
    name: 'breaks the pictures',
    code: on('template_redirect', `ob_start( function ( $page ) { return str_replace( '.svg', '.gone', $page ); } );`),
    says: 'shows none of its 2 pictures',
  },
  {
    name: 'has a script that fails and removes the menu',
    code: foot('<script>document.querySelector("nav").remove(); shopMenu.build();</script>'),
    says: 'has a new error of a script',
    kept: true,
  },
  {
    name: 'makes the page wider than a phone',
    code: foot('<div style="width:1200px;height:10px;background:#ccc"></div>'),
    says: 'is wider than the window',
    kept: true,
  },
];

const rotating = `<p id="banner">First of the banners</p><script>let at = 0; setInterval(() => { banner.textContent = ["Second of them", "Another one"][at++ % 2]; }, 1000)</script>`;

/** What sites show that is different in each look. All are there before and after. */
const LIVELY = [
  inContent(rotating),
  inContent('<p><?php echo gmdate( "H:i:s" ), " ", microtime( true ); ?></p>'),
  inContent('<p id="now"></p><script>now.textContent = new Date().toString();</script>'),
  inContent(
    '<div style="height:<?php echo 40 + random_int( 0, 60 ); ?>px;background:rgb(<?php echo random_int( 0, 255 ); ?>,90,90)">Advertisement</div>',
  ),
  inContent(
    '<p><?php $all = array( "Pruning in winter", "Grafting in spring, with a longer text that takes two lines of the page on a phone", "Picking" ); echo $all[ array_rand( $all ) ]; ?></p>',
  ),
  inContent('<ol><?php wp_list_comments( array(), get_comments( array( "post_id" => 1 ) ) ); ?></ol>'),
].join('\n');

const GOOD: readonly Seen[] = [
  { name: 'another sentence', code: inContent('<p>One sentence more about the cider.</p>') },
  { name: 'nothing that can be seen' },
  {
    name: 'a cookie banner',
    code: foot(
      '<div id="cookie-notice" style="position:fixed;bottom:0;left:0;right:0;padding:40px;background:#222;color:#fff">Cookies!</div>',
    ),
  },
  { name: 'a small badge', code: foot('<div style="position:fixed;bottom:8px;right:8px;background:#fd0">Offer</div>') },
];

/** While it is updated a visitor writes a comment. */
const COMMENTED: Seen = { name: 'nothing, while there is a new comment' };

/**
 * Those of an ordinary run: each costs a Chromium half a minute. What it sees of a page is tested in `audits/pictures`, and what follows
 * from that in `safety/pictures`.
 */
const TRIED = { bad: BAD.slice(0, shortOrLong(1, BAD.length)), good: GOOD.slice(0, shortOrLong(1, GOOD.length)) };

describe('pictures of pages', needs('chromium', ...WORDPRESS), () => {
  const host = new WordPressHost();
  const places: { site: WordPress; id: number }[] = [];
  let app: TestApp;

  beforeAll(async () => {
    await host.start();
    const key = await generateKey();
    const first = await host.site('pictures0', { updates: true, workers: 6 });
    first.trust(key.public_key);
    app = await testApp({
      sites: 1,
      realClock: true,
      config: {
        // However busy the machine is.
        pictures_ms: 600_000,
        site_timeout_ms: 30_000,
        update_wait_ms: 60_000,
        direct_call_ms: 300_000,
        chromium: browserPath,
      },
    });
    for (let i = 0; i < SITES; i++) {
      const site = i === 0 ? first : await host.site(`pictures${i}`, { updates: true, workers: 6, like: first });
      furnish(site, i === 0 ? BAD : [...GOOD, COMMENTED]);
      const row = bareSite(site.url, { name: site.database, private_key: key.private_key });
      places.push({ site, id: Number(await app.service.store.sites.add(row, Date.now(), () => [])) });
    }
    await app.call('sync-sites', { site_ids_or_domains: places.map(({ id }) => id) });
    for (const { id } of places)
      expect(await app.call('install-site-guard', { site_id_or_domain: id })).toMatchObject({ installed: true });
  });

  afterAll(async () => {
    await app?.close();
    await host.close();
  });

  /** A theme with a style sheet and pictures; on the second site everything that changes by itself. */
  function furnish(site: WordPress, kinds: readonly Seen[]): void {
    const lively = kinds !== BAD;
    site.writeAll({
      'themes/plain/index.php': PAGE,
      'themes/plain/look.css': STYLE,
      'themes/plain/empty.css': '',
      'themes/plain/one.svg': SVG,
      'themes/plain/two.svg': SVG.replace('#284', '#842'),
      'plugins/mainwp-child/mainwp-child.php': readFileSync(new URL('./mainwp-child.php', import.meta.url)),
      'mu-plugins/lively.php': `<?php ${lively ? LIVELY : ''}`,
    });
    const offers: Record<string, [string, string]> = {};
    const active = ['mainwp-child/mainwp-child.php'];
    for (const kind of kinds) {
      writeOld(site, kind);
      site.write(`packages/${folderOf(kind)}.zip`, zip(packageOf(kind)));
      offers[slugOf(kind)] = [NEW_VERSION, join(site.content, `packages/${folderOf(kind)}.zip`)];
      active.push(slugOf(kind));
    }
    site.write('offers.json', JSON.stringify({ plugin: offers, theme: {} }));
    site.activate(...active.sort());
  }

  const update = (place: number, kind: Seen, more = {}): Promise<Answer> =>
    app.call('safe-update-site', {
      ...more,
      site_id_or_domain: places[place]?.id ?? 0,
      types: ['plugins'],
      specific_items: [slugOf(kind)],
    });

  const SEEN = /; how \/ on a desktop and a phone, .* look in a browser, too;/;

  it.each(TRIED.bad)('found: $name', async (kind) => {
    const { site } = places[0] as (typeof places)[number];
    const before = contents(join(site.content, 'plugins', folderOf(kind)));
    const answer = await update(0, kind);
    expect(answer.checked).toEqual([expect.stringMatching(SEEN)]);
    const about = { updated: answer.updated, errors: answer.errors, suspects: answer.suspects };
    if (kind.kept === true) {
      expect(about).toMatchObject({
        updated: [{ slug: slugOf(kind) }],
        errors: [],
        suspects: [{ slug: slugOf(kind) }],
      });
      expect(JSON.stringify(answer.suspects)).toContain(kind.says);
      // The next one is compared with a sound page.
      await app.call('roll-back', { change_id: (answer.suspects as { change_id: string }[])[0]?.change_id });
    } else {
      expect(about).toMatchObject({ updated: [], errors: [{ slug: slugOf(kind), code: 'svc_update_rolled_back' }] });
      expect(JSON.stringify(answer.errors)).toContain(kind.says);
      expect(contents(join(site.content, 'plugins', folderOf(kind)))).toEqual(before);
    }
  });

  it.each(TRIED.good)('kept, without a doubt: $name', async (kind) => {
    const answer = await update(1, kind);
    expect(answer).toMatchObject({ updated: [{ slug: slugOf(kind) }], errors: [], suspects: [] });
    expect(answer.checked).toEqual([expect.stringMatching(SEEN)]);
    expect(answer.not_checked).not.toContainEqual(expect.stringContaining('how pages look'));
  });

  it.runIf(SOAK)('a comment of a visitor undoes no update, though what is doubtful is rolled back', async () => {
    const { site } = places[1] as (typeof places)[number];
    site.wp("update_option('comment_previously_approved', '');");
    const running = update(1, COMMENTED, { on_suspect: 'roll_back' });
    const file = join(site.content, 'plugins', slugOf(COMMENTED));
    const isNew = () => existsSync(file) && readFileSync(file, 'utf8').includes(NEW_VERSION);
    await expect.poll(isNew, { timeout: 120_000 }).toBe(true);
    const comment = { comment_post_ID: '1', author: 'V', email: 'v@example.com', comment: 'W'.repeat(300) };
    const sent = await fetch(`${site.url}wp-comments-post.php`, { method: 'POST', body: new URLSearchParams(comment) });
    expect(await sent.text()).toContain(comment.comment);
    expect(await running).toMatchObject({ updated: [{ slug: slugOf(COMMENTED) }], errors: [], suspects: [] });
  });
});
