/** Parts that pages, robots.txt and the REST API lose by an update, on simulated sites: forms, menus, sitemaps, namespaces. */

import { beforeEach, describe, expect, it } from 'vitest';
import type { PageChange, PageVisit } from '../../src/demo/faults.js';
import type { Answer } from '../support/harness.js';
import { ordinary, type SafetyApp, safetyApp } from './safety-app.js';

let app: SafetyApp;
beforeEach(async () => {
  app = await safetyApp({ sites: 1 });
});

const FORM = '<form id="contact"><input name="your-name"><textarea name="text"></textarea><button>Send</button></form>';
const MENU = '<nav><a href="?p=1">One</a> <a href="?p=2">Two</a></nav>';
const MAP = 'Sitemap: https://example.com/wp-sitemap.xml\n';

const front = ({ path, query }: PageVisit) => path === '' && query('rest_route') === '' && query('feed') === '';
const changed =
  (where: (visit: PageVisit) => boolean, change: (body: string) => string): PageChange =>
  (answer, visit) =>
    visit.inside === '' && where(visit) && answer.status === 200
      ? { ...answer, body: change(String(answer.body)) }
      : answer;
const robots = ({ path }: PageVisit) => path === 'robots.txt';
const index = ({ query }: PageVisit) => query('rest_route') === '/';
const withForm = changed(front, (body) => body.replace('</main>', `${FORM}</main>`));
const inMenu = changed(front, (body) => body.replace(/<nav>.*<\/nav>/s, MENU));
const mapped = changed(robots, (body) => body + MAP);
const contact = (name: string) => changed(index, (body) => body.replace('"wp/v2"', `"wp/v2","${name}"`));

/** Updates a plugin whose new version makes this of what every version makes of the pages. */
async function updated(always: PageChange, change: PageChange, input: object = {}): Promise<Answer> {
  const site = app.site(0);
  const plugin = app.offer(site);
  site.faults.pages = always;
  site.faults.breaks = { [`${plugin.slug}@99.0`]: change };
  await app.call('sync-sites', {});
  return app.safely('safe-update-site', { site_id_or_domain: 1, ...input });
}

const findingsOf = ({ suspects }: Answer) => (suspects as { findings: string[] }[]).flatMap(({ findings }) => findings);

it('a form that can no longer be sent is undone', async () => {
  const answer = await updated(
    withForm,
    changed(front, (body) => body.replace('<button>Send</button>', '')),
  );
  expect(answer).toMatchObject({ updated: [], errors: [{ code: 'svc_update_rolled_back' }] });
  expect(answer.errors[0].evidence).toContain('The front page has a form without a button now: that of your-name.');
});

describe('a form whose button gave way to words, as where visitors took the last places', () => {
  const atMain = (text: () => string) => changed(front, (body) => body.replace('</main>', () => `${text()}</main>`));
  const both =
    (first: PageChange, second: PageChange): PageChange =>
    (answer, visit) =>
      second(first(answer, visit), visit);
  let looks = 0;
  const letters = (word: number) => String(word).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');
  const MANY = Array.from({ length: 1_100 }, (_, word) => `word${letters(10_000 + word)}`).join(' ');

  it.each([
    ['in its place', withForm, '<p>Fully booked</p>'],
    [
      'that the page has already',
      both(
        withForm,
        changed(front, (body) => body.replace(FORM, `<h2>Early bird</h2><p>Fully booked</p>${FORM}`)),
      ),
      '<p>Fully booked</p>',
    ],
    [
      'on a page that varies',
      both(
        atMain(() => `<p>Number ${looks++}</p>`),
        withForm,
      ),
      '<p>Fully booked</p>',
    ],
    [
      'after more words than are read',
      both(
        atMain(() => '<p>word </p>'.repeat(1_100)),
        withForm,
      ),
      'Fully booked',
    ],
    ['before it', withForm, ''],
    ['behind it', withForm, ''],
    ['elsewhere', withForm, ''],
    [
      'elsewhere, as is said of others',
      both(
        withForm,
        changed(front, (body) => body.replace('<main>', '<main><p>The other one: Fully booked</p>')),
      ),
      '',
    ],
    [
      'elsewhere, after more words than are read',
      both(
        atMain(() => `<p>${MANY}</p>`),
        withForm,
      ),
      '',
    ],
  ])('is told: %s', async (how, always, words) => {
    const full = changed(front, (body) => {
      const notice = '<p>Fully booked</p>';
      const place = how.startsWith('elsewhere')
        ? body.replace('</main>', `<p>${'123 '.repeat(100)}</p>${notice}</main>`)
        : body.replace(FORM, how === 'before it' ? notice + FORM : how === 'behind it' ? FORM + notice : FORM);
      return place.replace('<button>Send</button>', words);
    });
    const answer = await updated(always, full);
    expect(answer).toMatchObject({ updated: [{}], errors: [] });
    expect(findingsOf(answer)).toContain('The front page has a form without a button now: that of your-name.');
  });
});

it.each([
  ['below it', '</body>'],
  ['right before it', FORM],
])('a form without its button is undone, whatever a visitor comments %s meanwhile', async (_where, before) => {
  const comment = '<article id="comment-7" class="comment"><p>Thanks, wonderful article!</p></article>';
  const change = changed(front, (body) => body.replace(before, comment + before).replace('<button>Send</button>', ''));
  expect((await updated(withForm, change)).errors).toMatchObject([{ code: 'svc_update_rolled_back' }]);
});

it('a form without its button is undone where the page says only less', async () => {
  const less = changed(front, (body) => body.replace(/<footer>.*<\/footer>/s, '').replace('<button>Send</button>', ''));
  const said = await updated(withForm, less);
  expect(said.errors).toMatchObject([{ code: 'svc_update_rolled_back' }]);
});

describe('forms that gave way to words on two pages', () => {
  const page = ({ query }: PageVisit) => query('page_id') !== '';
  const EVENT = '<form id="event"><input name="guest"><input name="meal"><button>Come</button></form>';
  const at = (where: (visit: PageVisit) => boolean, form: string) =>
    changed(where, (body) => body.replace('</main>', `${form}</main>`));
  const full = changed(
    () => true,
    (body) => body.replace(/<button>(?:Send|Come)<\/button>/, '<p>Fully booked</p>'),
  );
  const front = ({ path, query }: PageVisit) =>
    path === '' && ['p', 'page_id', 'cat', 's', 'feed', 'rest_route'].every((name) => query(name) === '');
  const always =
    (form: string): PageChange =>
    (answer, visit) =>
      at(page, form)(at(front, FORM)(answer, visit), visit);

  it('are undone, if they are two', async () => {
    expect((await updated(always(EVENT), full)).errors).toMatchObject([{ code: 'svc_update_rolled_back' }]);
  });

  it('are told, if they are one that both have', async () => {
    expect(await updated(always(FORM), full)).toMatchObject({ updated: [{}], errors: [] });
  });
});

it.each([
  [
    'a form',
    withForm,
    changed(front, (body) => body.replace(FORM, '')),
    'The front page has lost a form: that of your-name.',
  ],
  [
    'a field',
    withForm,
    changed(front, (body) => body.replace('<textarea name="text"></textarea>', '')),
    'The front page has lost fields of a form: text.',
  ],
  ['the menu', inMenu, changed(front, (body) => body.replace(MENU, '')), 'The front page has lost its menu.'],
  ['the sitemap', mapped, changed(robots, (body) => body.replace(MAP, '')), 'robots.txt no longer names a sitemap.'],
  [
    'a part of the REST API',
    contact('contact/v1'),
    changed(index, (body) => body.replace(',"contact/v1"', '')),
    'The REST API has lost parts: contact/v1.',
  ],
])('%s that is gone is told, and undone where that is asked for', async (_what, always, change, says) => {
  const kept = await updated(always, change);
  expect(kept).toMatchObject({ updated: [{}], errors: [] });
  expect(findingsOf(kept)).toContain(says);
});

it('what is doubtful is undone where that is asked for', async () => {
  const gone = changed(front, (body) => body.replace(FORM, ''));
  expect(await updated(withForm, gone, { on_suspect: 'roll_back' })).toMatchObject({
    updated: [],
    errors: [{ code: 'svc_update_rolled_back' }],
  });
});

describe('a style of the updated plugin that pages still name', () => {
  const SAYS = 'A page uses a script or style that does not exist.';
  const folder = (nth: number) => ordinary(app.site(0))[nth]?.slug.split('/')[0];
  const asked: string[] = [];
  beforeEach(() => void asked.splice(0));
  /** Names the style of the nth plugin on the front page, and answers for it. */
  const styled =
    (nth: number, status: number): PageChange =>
    (made, visit) => {
      const path = `wp-content/plugins/${folder(nth)}/style.css`;
      if (visit.path === path) asked.push(path);
      if (visit.path === path) return { ...made, status };
      return changed(front, (body) =>
        body.replace('</head>', `<link rel="stylesheet" href="${app.site(0).url}${path}"></head>`),
      )(made, visit);
    };
  const both =
    (first: PageChange, second: PageChange): PageChange =>
    (made, visit) =>
      second(first(made, visit), visit);
  const gone = (nth: number) => (made: ReturnType<PageChange>, visit: PageVisit) =>
    visit.path === `wp-content/plugins/${folder(nth)}/style.css` ? { ...made, status: 404 } : made;

  it('is told where it is gone, and undone where that is asked for', async () => {
    expect(findingsOf(await updated(styled(0, 200), gone(0)))).toEqual([SAYS]);
    app = await safetyApp({ sites: 1 });
    const answer = await updated(styled(0, 200), gone(0), { on_suspect: 'roll_back' });
    expect(answer).toMatchObject({ updated: [], errors: [{ code: 'svc_update_rolled_back' }] });
  });

  it.each([
    ['was gone before', () => styled(0, 404), () => gone(0), 1],
    ['is another plugin’s', () => styled(1, 200), () => gone(1), 0],
    [
      'is no longer named',
      () => styled(0, 200),
      () =>
        both(
          gone(0),
          changed(front, (body) => body.replace(/<link [^>]*>/, '')),
        ),
      1,
    ],
    ['is still there', () => styled(0, 200), () => (made: ReturnType<PageChange>) => made, 2],
  ])('is no doubt where it %s', async (_what, always, change, times) => {
    const answer = await updated(always(), change(), { on_suspect: 'roll_back' });
    expect(answer).toMatchObject({ updated: [{}], errors: [], suspects: [] });
    expect(new Set(asked).size).toBe(Math.min(times, 1));
    expect(asked.length).toBeGreaterThanOrEqual(times);
  });
});

describe('robots.txt', () => {
  const AGENTS = 'User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n';
  const says = (text: string) => changed(robots, () => text);

  it.each([
    ['of one robot', `${AGENTS}User-agent: GPTBot\nDisallow: /\n`],
    ['of one robot, behind a sitemap', `${AGENTS}${MAP}\nUser-agent: GPTBot\nDisallow: /\n`],
    ['of one robot, where all others may go everywhere', 'User-agent: *\nDisallow:\nUser-agent: CCBot\nDisallow: /\n'],
    ['of two robots', `${AGENTS}USER-AGENT: GPTBot\n# and\n\nuser-agent : CCBot\nDisallow: /`],
    ['of a robot that comes before all', `User-agent: GPTBot\nDisallow: /\n${AGENTS}`],
    ['and open again by a rule as long', `${AGENTS}Disallow: /\nallow: /\n`],
    ['and open again by a longer rule', `Allow: /*\n${AGENTS}Allow: /*\n\nUser-agent: *\nDisallow: /`],
    ['in a comment', `${AGENTS}# Disallow: /\n`],
    ['to no name', 'Disallow: /\n'],
  ])('closed %s undoes nothing', async (_what, text) => {
    const answer = await updated(says(AGENTS), says(text), { on_suspect: 'roll_back' });
    expect(answer).toMatchObject({ updated: [{}], errors: [], suspects: [] });
  });

  it.each([
    ['by its only rule', 'User-agent: *\nDisallow: /\n'],
    ['behind a comment', 'User-agent: *\n# Keep out\nDisallow: /\n'],
    ['behind blank and unknown lines', 'User-agent: *\r\n\r\nCrawl-delay: 9\r\n-\r\n\r\nDisallow: / # all of it\r\n'],
    ['by a pattern', 'User-agent: *\nDisallow: /*\nAllow: /\n'],
    ['beside other rules', `${AGENTS}Disallow: /\n`],
    ['in a second group', `${AGENTS}\nUser-agent: GPTBot\nAllow: /\n\nuser-agent:*\ndisallow:/`],
    ['together with one robot', `${AGENTS}\nUser-agent: *\nUser-agent: GPTBot\nDisallow: /\n`],
    ['but for the front page', '\uFEFFUser-agent: *\nAllow: /$\nDisallow: /\n'],
  ])('closed to all %s is undone', async (_how, text) => {
    const { updated: kept, errors } = await updated(says(AGENTS), says(text));
    expect([kept, errors]).toMatchObject([[], [{ code: 'svc_update_rolled_back' }]]);
    expect(errors[0].evidence).toContain('robots.txt now keeps search engines away (noindex).');
  });
});

describe('a page that visitors have made longer than what is read of a page', () => {
  const READ = 1_048_576;
  const comment = (letters: number) => `<p id="comment-9">${'a'.repeat(letters)}</p>`;
  const longer = (letters: (body: string) => number) =>
    changed(front, (body) => body.replace(FORM, () => comment(letters(body)) + FORM));
  /** So that the reading ends before its button. */
  const withinForm = (body: string) =>
    READ - Buffer.byteLength(body.slice(0, body.indexOf('<button>'))) - comment(0).length;

  it.each([
    ['before a form', () => READ],
    ['within a form', withinForm],
  ])('has lost nothing for that: %s', async (_where, letters) => {
    const answer = await updated(withForm, longer(letters), { on_suspect: 'roll_back' });
    expect(answer).toMatchObject({ updated: [{}], errors: [], suspects: [] });
    expect(answer.not_checked).toContain('/, after its first megabyte');
  });

  it('has no new script where it is short again', async () => {
    const script = '<script src="/wp-content/absent.js"></script>';
    const long = changed(front, (body) => body.replace('</body>', `${comment(READ)}${script}</body>`));
    const short = changed(front, (body) => body.replace(comment(READ), ''));
    const answer = await updated(long, short, { on_suspect: 'roll_back' });
    expect(answer).toMatchObject({ updated: [{}], errors: [], suspects: [] });
  });

  it('nor for forms that come before others, as many as are read', async () => {
    const forms = '<form class="vote"><input name="stars"><input name="why"></form>'.repeat(20);
    const more = changed(front, (body) => body.replace(FORM, forms + FORM));
    const answer = await updated(withForm, more, { on_suspect: 'roll_back' });
    expect(answer).toMatchObject({ updated: [{}], errors: [], suspects: [] });
  });

  it.each([
    [
      'fails',
      withForm,
      (made, visit) => (front(visit) ? { ...made, status: 500, body: comment(READ) } : made),
      'HTTP 500',
    ],
    [
      'is short again, without a button',
      changed(front, (body) => body.replace('</main>', `${FORM}${comment(READ)}</main>`)),
      changed(front, (body) => body.replace('<button>Send</button>', '').replace(comment(READ), '')),
      'The front page has a form without a button now: that of your-name.',
    ],
  ] satisfies [string, PageChange, PageChange, string][])(
    'is undone where it %s',
    async (_what, always, change, says) => {
      const { errors } = await updated(always, change);
      expect(errors).toMatchObject([{ code: 'svc_update_rolled_back' }]);
      expect(errors[0].evidence).toContainEqual(expect.stringContaining(says));
    },
  );
});

it('another version of a part of the REST API is none that is lost', async () => {
  const next = changed(index, (body) => body.replace('contact/v1', 'contact/v2'));
  expect(await updated(contact('contact/v1'), next)).toMatchObject({ updated: [{}], suspects: [], errors: [] });
});

it('a shop that cannot be looked at is said, and costs its site no update', async () => {
  const shop = ordinary(app.site(0))[1];
  if (shop === undefined) throw new Error('the site has no second plugin');
  Object.assign(shop, { slug: 'woocommerce/woocommerce.php', active: true });
  const answer = await updated(
    (made) => made,
    (made) => made,
  );
  expect(answer).toMatchObject({ updated: [{}], suspects: [], errors: [] });
  expect(answer.not_checked).toContain('the shop: its products cannot be listed by visitors');
});

it('where the REST API is closed, pages are those of the sitemap', async () => {
  const site = app.site(0);
  const [post] = site.state.posts.filter(({ type, status }) => type === 'post' && status === 'publish');
  const xml = (...addresses: string[]) =>
    `<urlset>${addresses.map((one) => `<url><loc>${one}</loc></url>`).join('')}</urlset>`;
  const closed: PageChange = (answer, { path, query }) => {
    const as = (body: string) => ({ ...answer, status: 200, body, headers: { 'content-type': 'application/xml' } });
    if (query('rest_route') !== '') return { ...answer, status: 401, body: '{"code":"closed"}' };
    if (path === 'wp-sitemap.xml')
      return as(xml('https://elsewhere.example/wp-sitemap-posts-post-1.xml', `${site.url}wp-sitemap-posts-post-1.xml`));
    return path === 'wp-sitemap-posts-post-1.xml' ? as(xml(`${site.url}?p=${post?.id}`)) : answer;
  };
  const answer = await updated(closed, (made) => made);
  expect(answer).toMatchObject({ updated: [{}], errors: [] });
  expect(answer.checked).toEqual([expect.stringMatching(/robots\.txt, a post as a visitor/)]);
});
