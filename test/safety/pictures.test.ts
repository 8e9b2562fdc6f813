/** What follows from how pages look in a browser, with one that shows what the test says. */

import { describe, expect, it } from 'vitest';
import type { DemoSite } from '../../src/demo/fleet.js';
import { MOST_BROWSERS } from '../../src/outbound/audit/browser.js';
import { type Layout, type PageLook, PictureFailure, type Pictures } from '../../src/outbound/pictures/pictures.js';
import { Slots } from '../../src/runtime/slots.js';
import { browser, HIDDEN, picture, pixelsOf, SOUND, sound, type Visit, WORDS } from './browser.js';
import { ordinary, type SafetyApp, safetyApp } from './safety-app.js';

const NEW = '99.0';
const isNew = (site: DemoSite, nth: number) => ordinary(site)[nth]?.version === NEW;

/** Updates the first plugins of a site whose pages look like this. */
async function updated(
  show: (visit: Visit) => PageLook | Promise<PageLook>,
  input: object = {},
  plugins = 1,
  config = {},
) {
  let app: SafetyApp | undefined;
  const { pictures, state } = browser(() => app as SafetyApp, show);
  app = await safetyApp({ sites: 1, pictures, config });
  const [site] = app.fleet.sites;
  if (site === undefined) throw new Error('no site');
  const slugs = Array.from({ length: plugins }, (_, nth) => (app as SafetyApp).offer(site, nth, NEW).slug);
  await app.call('sync-sites', {});
  const answer = await app.safely('safe-update-site', { site_id_or_domain: 1, ...input });
  return { app, answer, slugs, state, site };
}

describe('pages in a browser', () => {
  it('are seen on a desktop and a phone, twice before and once after, and the answer says so', async () => {
    const seen: string[] = [];
    const { answer, state, slugs } = await updated(({ path, device, nth }) => {
      seen.push(`/${path} ${device} ${nth}`);
      return sound;
    });
    expect(answer).toMatchObject({ updated: [{ slug: slugs[0] }], suspects: [], errors: [] });
    expect(answer.checked).toEqual([
      expect.stringContaining(
        '; how / on a desktop and a phone, a post on a desktop and a phone, a page on a desktop and a phone look in a browser, too;',
      ),
    ]);
    expect(answer.not_checked).toEqual(['other pages, also of wp-admin', 'mail', 'what forms send']);
    expect(seen.filter((one) => one.startsWith('/ '))).toEqual(
      [0, 1, 2].flatMap((nth) => [`/ desktop ${nth}`, `/ phone ${nth}`]),
    );
    expect(state).toEqual({ open: 0, opened: 2 });
  });

  it('whose text is hidden undo the update, on that site only, when two looks show it', async () => {
    const { answer, app, slugs, site } = await updated(({ site: now }) =>
      isNew(now, 0) ? { ...sound, layout: HIDDEN } : sound,
    );
    expect(answer).toMatchObject({ updated: [], errors: [{ slug: slugs[0], code: 'svc_update_rolled_back' }] });
    expect(answer.errors[0].evidence).toEqual([
      'The front page on a desktop has hidden 94 % of the words that could be read. The same in 5 other views.',
    ]);
    expect(isNew(site, 0)).toBe(false);
    const { versions } = await app.call('list-quarantined-versions', {});
    expect(versions).toMatchObject([{ slug: slugs[0], scope: 'site' }]);
  });

  it('that look wrong once prove nothing', async () => {
    const { answer } = await updated(({ site, nth }) =>
      isNew(site, 0) && nth === 2 ? { ...sound, layout: HIDDEN } : sound,
    );
    expect(answer).toMatchObject({ updated: [{}], suspects: [], errors: [] });
  });

  it('find the one at fault among several, and the others are updated again', async () => {
    const { answer, slugs } = await updated(
      ({ site }) => (isNew(site, 0) ? { ...sound, layout: HIDDEN } : sound),
      {},
      3,
    );
    expect(answer.errors).toMatchObject([{ slug: slugs[0], code: 'svc_update_rolled_back' }]);
    expect((answer.updated as { slug: string }[]).map(({ slug }) => slug).sort()).toEqual(slugs.slice(1).sort());
  });

  it.each([
    [
      'the styles of the theme are lost',
      { styles: { rules: { '/themes/acme': 3, '/plugins/shop': 900 }, foreign: 0 } },
      'has lost styles of /themes/acme: of 200 rules 3 are left',
    ],
    ['no picture left', { images: { shown: 3, broken: 3 } }, 'shows none of its 3 pictures any more'],
  ])('undo an update: %s', async (_name, change, says) => {
    const { answer } = await updated(({ site }) =>
      isNew(site, 0) ? { ...sound, layout: { ...SOUND, ...change } } : sound,
    );
    expect(answer).toMatchObject({ updated: [], errors: [{ code: 'svc_update_rolled_back' }] });
    expect(answer.errors[0].message).toContain(says);
  });

  it.each([
    ['something covers the text', { readable: [], covered: 20 }, 'has covered 100 %'],
    ['half of the text is hidden', { readable: WORDS.slice(0, 7), hidden: 4 }, 'has hidden 56 %'],
    ['the header is gone', { landmarks: ['main', 'footer'] }, 'shows no header, nav any more'],
    ['the menu is gone', { menu: 0 }, 'shows no link of a menu any more'],
    ['a picture is gone', { images: { shown: 3, broken: 1 } }, 'has pictures that no longer load: 1'],
    ['a file is missing', { failed: ['/a.js'] }, 'files of the site that do not load: /a.js'],
    [
      'a script fails',
      { errors: ['TypeError: x is no function'] },
      'new error of a script: "TypeError: x is no function"',
    ],
    ['it is too wide', { overflow: 300 }, 'is wider than the window'],
  ] as [string, Partial<Layout>, string][])('are suspect, and kept: %s', async (_name, change, says) => {
    const { answer } = await updated(({ site }) =>
      isNew(site, 0) ? { ...sound, layout: { ...SOUND, ...change } } : sound,
    );
    expect(answer).toMatchObject({
      updated: [{}],
      errors: [],
      suspects: [{ findings: [expect.stringContaining(says)] }],
    });
  });

  it.each([
    ['it was so before', { layout: { ...SOUND, menu: 0, failed: ['/a.js'], overflow: 300 } }],
    ['the styles are elsewhere', { layout: { ...SOUND, styles: { rules: { other: 1_050 }, foreign: 0 } } }],
    ['some of the text is hidden', { layout: { ...SOUND, readable: WORDS.slice(0, 12), hidden: 4 } }],
  ])('are no doubt: %s', async (name, look) => {
    const always = name === 'it was so before';
    const { answer } = await updated(({ site }) => (always || isNew(site, 0) ? { ...sound, ...look } : sound));
    expect(answer).toMatchObject({ updated: [{}], errors: [], suspects: [] });
  });
});

describe('pictures', () => {
  const shows = (now: Buffer, second = picture()) =>
    updated(({ site, nth }) => ({ ...sound, picture: isNew(site, 0) ? now : nth === 1 ? second : picture() }));

  it('that differ are suspect, and undo an update where the caller wants that', async () => {
    const { answer } = await shows(picture(0, true));
    expect(answer).toMatchObject({ updated: [{}], errors: [] });
    expect(answer.suspects).toMatchObject([
      {
        findings: [
          expect.stringMatching(
            /^The front page on a desktop looks different: \d+ % of it has changed\. The same in 5 other views\.$/,
          ),
        ],
      },
    ]);
    const undone = await updated(({ site }) => ({ ...sound, picture: picture(0, isNew(site, 0)) }), {
      on_suspect: 'roll_back',
    });
    expect(undone.answer).toMatchObject({ updated: [], errors: [{ code: 'svc_update_rolled_back' }] });
    expect((await undone.app.call('list-quarantined-versions', {})).versions).toEqual([]);
  });

  it.each([
    ['something was put above the rest', picture(60), picture()],
    ['they differ by themselves', picture(0, true), picture(0, true)],
  ])('are no doubt: %s', async (_name, now, second) => {
    const { answer } = await shows(now, second);
    expect(answer).toMatchObject({ updated: [{}], errors: [], suspects: [] });
  });
});

describe('what could not be seen', () => {
  it.each([
    [
      'no browser',
      () => Promise.reject(new PictureFailure('SITEFLEET_CHROMIUM names no browser')),
      'SITEFLEET_CHROMIUM names no browser',
    ],
    [
      'one that fails',
      async () => ({
        look: () => Promise.reject(new PictureFailure('the browser failed')),
        close: async () => undefined,
      }),
      'the browser failed',
    ],
  ] as [string, Pictures['open'], string][])('is said, and the site is updated: %s', async (_name, open, reason) => {
    const app = await safetyApp({ sites: 1, pictures: { enabled: true, open, pixelsOf } });
    app.offer(app.fleet.site(0));
    await app.call('sync-sites', {});
    const answer = await app.safely('safe-update-site', { site_id_or_domain: 1 });
    expect(answer).toMatchObject({ updated: [{}], errors: [] });
    expect(answer.not_checked).toContain(`how pages look in a browser: ${reason}`);
    expect(answer.checked).toEqual([expect.not.stringContaining('look in a browser')]);
  });

  it('for want of time is said, and the browser is closed', async () => {
    const { answer, state } = await updated(
      ({ path, device }) => (path === '' && device === 'desktop' ? sound : new Promise(() => undefined)),
      {},
      1,
      { pictures_ms: 1_000 },
    );
    expect(answer).toMatchObject({ updated: [{}], errors: [] });
    expect(answer.not_checked).toContainEqual(
      expect.stringMatching(/^how pages look in a browser.*: there was not enough time$/),
    );
    expect(state.open).toBe(0);
  });
});

describe('browsers', () => {
  const signal = new AbortController().signal;

  it('are two at a time; who waits gets the next free one, or none', async () => {
    const slots = new Slots(MOST_BROWSERS);
    const [first, second] = [await slots.take(0, signal), await slots.take(0, signal)];
    expect(await slots.take(1, signal)).toBeNull();
    const waiting = slots.take(600_000, signal);
    first?.();
    expect(await waiting).not.toBeNull();
    expect(await slots.take(1, signal)).toBeNull();
    second?.();
    expect(await slots.take(1, signal)).not.toBeNull();
  });

  it('are waited for no longer than the caller', async () => {
    const slots = new Slots(1);
    const end = new AbortController();
    await slots.take(0, signal);
    const waiting = slots.take(600_000, end.signal);
    end.abort(new Error('over'));
    await expect(waiting).rejects.toThrow('over');
  });
});
