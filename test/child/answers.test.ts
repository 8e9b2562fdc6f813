import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChildFailure } from '../../src/outbound/child/port.js';
import {
  actionOf,
  connectionStateOf,
  coreUpdateOf,
  registeredOf,
  upgradesOf,
} from '../../src/outbound/child/protocol/answers.js';
import { MAX_CHANGES } from '../../src/outbound/child/protocol/changes.js';
import { answerFailure, unframedFailure } from '../../src/outbound/child/protocol/failure.js';
import { registrationFailure } from '../../src/outbound/child/protocol/registration.js';
import { snapshotOf } from '../../src/outbound/child/protocol/snapshot.js';
import { exactText, plainText, richText } from '../../src/outbound/child/protocol/text.js';
import { expectToGrowLinearly } from '../support/growth.js';
import wire from './wire.json' with { type: 'json' };

const answers = wire.answers;
const full = () => snapshotOf(answers['sync everything'], true) ?? {};

describe('a real stats answer', () => {
  it('gives the facts of the site', () => {
    expect(full()).toMatchObject({
      child_version: '6.1',
      wp_version: '7.1.4',
      php_version: '8.2.35',
      mysql_version: '10.11.19-MariaDB-0+deb12u1',
      memory_limit: '256M',
      database_size: '0.89',
      language: 'en_US',
      ip: '127.0.0.1',
      debug_mode: false,
      search_visible: true,
      gmt_offset: '0',
      site_url: 'http://127.0.0.1:8101',
      unique_id: '',
      admin_email: 'admin1@example.test',
      core_update: null,
      health: { good: 16, recommended: 5, critical: 2 },
      last_post: 1795178698,
      categories: ['News', 'Other Cat', 'Uncategorized'],
    });
    expect(full()).toHaveProperty('timezone', '');
    expect(full()).not.toHaveProperty('regverify');
  });

  it('gives plugins and themes', () => {
    const { plugins = [], themes = [] } = full();
    expect(plugins.map((one) => one.slug)).toContain('akismet/akismet.php');
    expect(plugins.filter((one) => one.child_agent).map((one) => one.slug)).toEqual(['mainwp-child/mainwp-child.php']);
    expect(plugins.filter((one) => one.mu).map((one) => one.slug)).toEqual(['local-helper.php']);
    expect(themes.filter((one) => one.active)).toEqual([
      expect.objectContaining({ slug: 'twentytwentyfive', name: 'Twenty Twenty-Five', version: '1.5' }),
    ]);
    expect([plugins.length, themes.length]).toEqual([6, 5]);
  });

  it('gives offers, empty where PHP says []', () => {
    expect(full().plugin_updates).toEqual([
      { slug: 'gamma-broken/gamma-broken.php', name: 'Gamma Broken', current_version: '1.0.0', new_version: '1.1.0' },
    ]);
    expect(full()).toMatchObject({ theme_updates: [], translation_updates: [] });
  });

  it('gives security, abandoned extensions and changes', () => {
    expect(full().security).toMatchObject({ db_reporting: 'Y_UNABLE', sec_outdated_themes: 'Y' });
    expect(full().abandoned_plugins).toEqual([
      { slug: 'beta-widget/beta-widget.php', name: 'Beta Widget', version: '2.0.0', last_updated: 1551780000 },
    ]);
    expect(full().abandoned_themes).toEqual([
      { slug: 'delta-theme', name: 'Delta Theme', version: '1.1.0', last_updated: 1514851200 },
    ]);
    const changes = full().changes ?? [];
    expect(changes[0]).toEqual({
      child_id: '17951792401616',
      source: 'actions',
      context: 'plugins',
      action: 'deactivated',
      item: 'Beta Widget',
      user_login: 'admin1',
      user_id: 1,
      created: 1795179240.266651,
      duration: 0.01920604705810547,
      detail: '',
      summary: '',
      slug: 'beta-widget/beta-widget.php',
      old_value: '',
      new_value: '',
      not_a_change: false,
    });
    expect(changes.slice(1).map((one) => [one.source, one.child_id, one.item])).toEqual([
      ['logs', '1', ''],
      ['logs', '2', 'wp_scheduled_delete'],
      ['logs', '3', 'delete_expired_transients'],
      ['logs', '4', 'wp_update_user_counts'],
    ]);
  });

  it('keeps recent content flat', () => {
    expect(full().recent_posts).toEqual([
      expect.objectContaining({ id: 1, title: 'Hello world!', comment_count: '1' }),
    ]);
    expect(full().recent_comments).toHaveLength(1);
  });
});

describe('partial and odd answers', () => {
  it('keep no more of posts than lists of sites can show', () => {
    const words = 'w'.repeat(1_900);
    const post = Object.fromEntries(Array.from({ length: 10 }, (_, nth) => [`member${nth}`, words]));
    const snapshot = snapshotOf({ recent_posts: Array.from({ length: 150 }, () => post), recent_pages: [post] }, false);
    expect(snapshot?.recent_posts).toHaveLength(3);
    expect(snapshot?.recent_pages).toHaveLength(1);
    const usual = Array.from({ length: 25 }, (_, id) => ({ id, title: 'Hello world!', content: words }));
    expect(snapshotOf({ recent_posts: usual }, false)?.recent_posts).toEqual(usual);
  });

  it('leaves absent what is absent, and knows none from unknown', () => {
    expect(snapshotOf({ themes: [] }, false)).toEqual({ themes: [] });
    expect(snapshotOf({ wp_updates: null }, false)).toBeNull();
    expect(snapshotOf({ version: '6', wp_updates: '7.2' }, false)).toEqual({ child_version: '6', core_update: '7.2' });
    expect(snapshotOf({ version: '6' }, false)).toEqual({ child_version: '6' });
    expect(snapshotOf({ version: '6' }, true)).toEqual({ child_version: '6', core_update: null });
    expect(snapshotOf({ wpversion: '7.2', wp_updates: '7.2' }, true)?.core_update).toBeNull();
    for (const nothing of [null, undefined, '', 'x', 5, [], {}, { error: 'x' }])
      expect(snapshotOf(nothing, true)).toBeNull();
  });

  it('does not take a broken list for an empty one', () => {
    expect(snapshotOf({ version: '6', plugins: 'oops', themes: null, plugin_updates: false }, false)).toEqual({
      child_version: '6',
    });
  });

  it('mixes numbers and strings, lists and maps', () => {
    const snapshot = snapshotOf(
      {
        plugins: {
          0: { slug: 'a/a.php', name: 'A &amp; B', version: 2, active: '1' },
          7: { slug: 'b/b.php', version: false, active: 0 },
        },
        health_site_status: { good: '3', recommended: 1, critical: '0' },
        last_post_gmt: '1700000000',
      },
      false,
    );
    expect(snapshot?.plugins).toEqual([
      expect.objectContaining({ slug: 'a/a.php', name: 'A & B', version: '2', active: true }),
      expect.objectContaining({ slug: 'b/b.php', name: 'b/b.php', version: '', active: false }),
    ]);
    expect(snapshot).toMatchObject({ health: { good: 3, recommended: 1, critical: 0 }, last_post: 1700000000 });
  });

  it('merges premium offers, drops offers of what is installed, and takes each slug once', () => {
    const snapshot = snapshotOf(
      {
        plugins: [
          { slug: 'same/same.php', version: '2.0', name: 'Same' },
          { slug: 'same/same.php', version: '9' },
        ],
        plugin_updates: {
          'same/same.php': { Name: 'Same', Version: '1.0', update: { new_version: '2.0' } },
          'a/a.php': { Name: 'A', Version: '1.0', update: { new_version: 1.5 } },
        },
        theme_updates: [],
        premium_updates: {
          'pro/pro.php': { type: 'plugin', Name: 'Pro', Version: '3', update: { new_version: '4', premium: true } },
          'a/a.php': { type: 'plugin', Name: 'A again', update: { new_version: '9' } },
          'pro-theme': { type: 'theme', Name: 'Pro Theme', Version: '1', update: { new_version: '2' } },
        },
      },
      false,
    );
    expect(snapshot?.plugins).toHaveLength(1);
    expect(snapshot?.plugin_updates).toEqual([
      { slug: 'a/a.php', name: 'A', current_version: '1.0', new_version: '1.5' },
      { slug: 'pro/pro.php', name: 'Pro', current_version: '3', new_version: '4' },
    ]);
    expect(snapshot?.theme_updates).toEqual([
      { slug: 'pro-theme', name: 'Pro Theme', current_version: '1', new_version: '2' },
    ]);
  });

  it('collapses the languages of a translation into one offer', () => {
    const entry = (language: string, version: string) => ({
      type: 'plugin',
      slug: 'akismet',
      name: 'Akismet',
      language,
      version,
    });
    expect(
      snapshotOf({ translation_updates: [entry('de_DE', '5.9'), entry('fr_FR', '5.10')] }, false)?.translation_updates,
    ).toEqual([{ slug: 'akismet', name: 'Akismet (de_DE, fr_FR)', current_version: '', new_version: '5.10' }]);
  });

  it('cuts the longer of two change lists and leaves the rest of both for the next request', () => {
    const log = Array.from({ length: MAX_CHANGES + 20 }, (_, i) => [
      `l${i}`,
      { id: i, created_on: String(1000 + i), action_name: 'x', context: 'user' },
    ]);
    const changes =
      snapshotOf(
        {
          changes_logs_data: Object.fromEntries(log),
          child_site_actions_data: { early: { action: 'a', created: 1001.5 }, late: { action: 'b', created: 9_000 } },
        },
        false,
      )?.changes ?? [];
    expect(changes).toHaveLength(MAX_CHANGES + 1);
    expect(changes.at(-1)?.created).toBe(1000 + MAX_CHANGES - 1);
    expect(changes.some((one) => one.child_id === 'late')).toBe(false);
  });

  it('drops entries from a far future, which would hide all that follow', () => {
    expect(snapshotOf({ child_site_actions_data: { a: { action: 'x', created: 1e15 } } }, false)?.changes).toEqual([]);
  });
});

describe('hostile answers', () => {
  const keys = [
    ...Object.keys(answers['sync everything']),
    ...[
      'premium_updates',
      'regverify_info',
      'slug',
      'name',
      'version',
      'update',
      'new_version',
      'meta_data',
      'created',
      'action',
      'error',
    ],
    ...[
      'status',
      'other_data',
      'plugin_action_data',
      'theme_action_data',
      'upgrades',
      'updated_data',
      'upgrade',
      '__proto__',
      'a/a.php',
    ],
  ];
  const hostile = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      fc.constantFrom<unknown>(null, true, false, '', '1', 'SUCCESS', -1, 1e308, 'a/a.php'),
      fc.double(),
      fc.string({ unit: 'binary' }),
      fc.array(tie('value'), { maxLength: 4 }),
      fc
        .array(fc.tuple(fc.constantFrom(...keys), tie('value')), { maxLength: 6 })
        // JSON.parse makes `__proto__` an own member.
        .map((entries) => JSON.parse(JSON.stringify(Object.fromEntries(entries))) as unknown),
    ),
  }));

  it('never throw in a snapshot, and never break its types', () => {
    const answer = fc.dictionary(fc.constantFrom(...keys), hostile.value, { maxKeys: 12 });
    fc.assert(
      fc.property(answer, (value) => {
        const snapshot = snapshotOf(value, true) ?? {};
        for (const one of [...(snapshot.plugins ?? []), ...(snapshot.themes ?? [])]) {
          expect([typeof one.slug, typeof one.name, typeof one.version, typeof one.active]).toEqual([
            'string',
            'string',
            'string',
            'boolean',
          ]);
          expect(one.slug).not.toBe('');
        }
        for (const one of snapshot.changes ?? []) expect(Number.isFinite(one.created)).toBe(true);
        for (const one of [...(snapshot.plugin_updates ?? []), ...(snapshot.translation_updates ?? [])]) {
          expect(typeof one.new_version).toBe('string');
        }
        expect(() => structuredClone(snapshot)).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });

  it('never throw anything but a ChildFailure elsewhere', () => {
    const readers: ((value: unknown) => unknown)[] = [
      (value) => actionOf(value, 'theme', ['a/a.php', '__proto__']),
      (value) => upgradesOf(value, ['a/a.php', '__proto__', 'constructor']),
      coreUpdateOf,
      connectionStateOf,
      registeredOf,
      (value) => answerFailure(value, 'stats'),
      registrationFailure,
    ];
    fc.assert(
      fc.property(hostile.value, fc.constantFrom(...readers), (value, read) => {
        try {
          read(value);
        } catch (error) {
          expect(error).toBeInstanceOf(ChildFailure);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('drops slugs that are none, and caps the count', () => {
    const plugins = [
      ...[
        { slug: 5 },
        { slug: '' },
        { slug: 'a\u0000b' },
        { slug: 'x'.repeat(256) },
        { slug: 'evil\u202Ephp' },
        null,
        'x',
        { name: 'no slug' },
      ],
      { slug: "it's/ok & kept.php" },
    ];
    expect(snapshotOf({ plugins }, false)?.plugins?.map((one) => one.slug)).toEqual(["it's/ok & kept.php"]);
    const many = Array.from({ length: 6_000 }, (_, i) => ({ slug: `p${i}` }));
    expect(snapshotOf({ plugins: many }, false)?.plugins).toHaveLength(5_000);
  });
});

describe('text of strangers', () => {
  it.each([
    ['Tom &amp; Jerry&#8217;s &quot;Plugin&quot;', 'Tom & Jerry’s "Plugin"'],
    ['<b>Bold</b> <a href="javascript:x">link</a>', 'Bold link'],
    ['B&#228;cker &amp; Söhne &lt;Test&gt;', 'Bäcker & Söhne <Test>'],
    ['&lt;script&gt;alert(1)&lt;/script&gt;', ''],
    ['&lt;strong&gt;No&lt;/strong&gt; &lt;x onclick=&quot;a()&quot;&gt; &lt;b&gt; a &lt; b', 'No a < b'],
    ['&lt;scr&lt;b&gt;ipt&gt; &lt;im&lt;i&gt;g src=x&gt;', '<scr ipt>'],
    [`${'&lt;b '.repeat(20)}${'&gt;'.repeat(20)} c`, `${'b '.repeat(18)}${'>'.repeat(18)} c`],
    ['&lt;img src=x onerror=a() &lt;/b 1 &lt; 2 &lt;3', 'img src=x onerror=a() /b 1 < 2 <3'],
    ['<b>a</b> &lt;c&gt; <a', 'a <c> a'],
    ['<\0script>a</\u200bscript> &lt;&#8203;b&gt; <\u202eb>', ''],
    // Nothing is seen of these: what has only such a name would have none.
    ['\u3164\u2800 \u115f\u1160\uffa0\u034f\u17b4\u180e\u200d\ufe0f', ''],
    ['\u200d\ufe0f Shop\ufe01\ufe02\ufe0f\ufe0e\u200d\u200c\u200d', 'Shop\ufe0f\u200d'],
    // What belongs to words and pictures stays.
    [
      '\u2764\ufe0f\u200d\u{1f525} \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
      '\u2764\ufe0f\u200d\u{1f525} \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
    ],
    ['<scr<b>ipt>x<a', 'x a'],
    ['a <script>alert(1)</script> b', 'a b'],
    ['1 < 2 && 3 > 2', '1 < 2 && 3 > 2'],
    ['&amp;lt;b&amp;gt;', '&lt;b&gt;'],
    ['line\nbreak\ttab\u0007bell', 'line break tabbell'],
    ['abc\u202Edcba\u2066x\u200Bz\uFEFF', 'abcdcbaxz'],
    ['hidden\u{E0041}\u{E0042}tags', 'hiddentags'],
    ['family 👨‍👩‍👧 stays', 'family 👨‍👩‍👧 stays'],
    ['half \uD800 pair', 'half pair'],
    ['&#x110000;&#0;&constructor;', '\uFFFD\uFFFD&constructor;'],
    [12.5, '12.5'],
    [Number.NaN, ''],
    [{}, ''],
    [null, ''],
  ])('%j becomes %j', (given, expected) => {
    expect(plainText(given, 100)).toBe(expected);
  });

  it('never leaves markup that was sent as such, nor unseen characters, and keeps to its length', () => {
    const pieces = fc.array(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('<', '>', '&gt;', '&amp;lt;', 'script', '</', '<!--', '&', '\0', '\u200b'),
      ),
    );
    fc.assert(
      fc.property(pieces, fc.integer({ min: 1, max: 40 }), (parts, max) => {
        const text = plainText(parts.join(''), max);
        expect(text.length).toBeLessThanOrEqual(max);
        expect(text).not.toMatch(/<[A-Za-z/!?]/);
        expect(text).not.toMatch(/[\p{Cc}\p{Cs}\u202A-\u202E\u2066-\u2069]/u);
        expect(exactText(text, 40) === null).toBe(text === '');
      }),
    );
  });

  it('never leaves markup of HTML that was sent as entities', () => {
    const words = [
      '<',
      '&lt;',
      '&#60;',
      '>',
      '&gt;',
      'script',
      'b',
      'img src=x onerror=a',
      '/',
      ' ',
      '=',
      'Test',
      '!--',
      '?',
      '"',
    ];
    const pieces = fc.array(fc.constantFrom(...words, '&#0;', '\u200b', '&#8203;'));
    fc.assert(
      fc.property(pieces, (parts) => {
        expect(plainText(parts.join(''), 300)).not.toMatch(/<\/?(script|b|img)[\s>]|<[/!?]|<[a-z][^<>]*=/i);
      }),
    );
  });

  it('works in linear time on what is made to be slow', () => {
    expectToGrowLinearly((size) => {
      for (const evil of ['<a', '&', '<script>', ' ']) plainText(evil.repeat(size), 500);
    }, 60_000);
  });

  it('treats each character alone as Unicode describes it', () => {
    const blank = /[\p{Z}\t\n\v\f\r\uFEFF]/u;
    const unseen = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;
    const wrong = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter((char) => {
      if (char === '<' || /\p{Cn}/u.test(char)) return false;
      const gone = blank.test(char) || unseen.test(char);
      return plainText(char, 10) !== (gone ? '' : char);
    });
    expect(wrong).toEqual([]);
  });

  it('leaves content its lines and markup', () => {
    expect(richText('<p>a</p>\n\tb\u0000\u202E', 100)).toBe('<p>a</p>\n\tb');
  });
});

describe('verdicts', () => {
  it('does not believe SUCCESS for a slug the site does not have', () => {
    expect(actionOf(answers.activate, 'plugin', ['beta-widget/beta-widget.php'])).toMatchObject({
      verdicts: [{ claimed: true, version: '2.0.0', message: '' }],
      snapshot: { child_version: '6.1' },
    });
    expect(actionOf(answers['activate unknown slug'], 'plugin', ['nope/nope.php']).verdicts).toEqual([
      expect.objectContaining({
        slug: 'nope/nope.php',
        claimed: false,
        message: expect.stringContaining('no plugin of this name'),
      }),
    ]);
    const deleted = actionOf(answers['delete active plugin'], 'plugin', ['omega-new/omega-new.php', 'gone/gone.php']);
    expect(deleted.verdicts.map((one) => one.claimed)).toEqual([true, false]);
  });

  it('reads refusals of both kinds', () => {
    expect(actionOf(answers['unknown action'], 'plugin', ['beta-widget/beta-widget.php']).verdicts[0]?.claimed).toBe(
      false,
    );
    expect(actionOf(answers['theme delete active'], 'theme', ['twentytwentyfour'])).toEqual({
      verdicts: [expect.objectContaining({ claimed: false, message: 'The active theme cannot be deleted.' })],
      snapshot: null,
    });
    expect(answerFailure(answers['theme delete active'], 'theme_action')).toBeNull();
  });

  it('reads updates: failed with a text, unknown though "true", none', () => {
    expect(upgradesOf(answers['upgrade fails'], ['gamma-broken/gamma-broken.php']).verdicts).toEqual([
      {
        slug: 'gamma-broken/gamma-broken.php',
        claimed: false,
        message: 'The site says: "Download failed".',
        version: '1.0.0',
        old_version: '',
        rolled_back: false,
      },
    ]);
    // The child claims success; the verbs have to notice that no version came with it.
    expect(upgradesOf(answers['upgrade unknown slug'], ['ghost/ghost.php']).verdicts[0]).toMatchObject({
      claimed: true,
      version: '',
      old_version: '',
    });
    expect(upgradesOf(answers['translations none'], ['x']).verdicts[0]).toMatchObject({ claimed: false, message: '' });
    const rolledBack = {
      upgrades: { a: true },
      other_data: { updated_data: { a: { success: 1, rollback: 1, version: '1' } } },
    };
    expect(upgradesOf(rolledBack, ['a']).verdicts[0]).toMatchObject({ claimed: false, rolled_back: true });
  });

  it('reads core updates', () => {
    expect(coreUpdateOf(answers['core already latest'])).toEqual({
      claimed: true,
      old_version: '',
      version: '',
      message: '',
    });
    expect(coreUpdateOf({ upgrade: 'SUCCESS', old_version: '6.1.9', version: '6.8.7' })).toMatchObject({
      claimed: true,
      version: '6.8.7',
    });
    expect(coreUpdateOf({ upgrade: 'WPERROR', other_data: { upgrade_error_codes: ['disk_full'] } })).toMatchObject({
      claimed: false,
      message: expect.stringContaining('disk_full'),
    });
    expect(coreUpdateOf({ upgrade: '<b>ODD' }).message).toContain('"ODD"');
  });
});

describe('failures', () => {
  it.each([
    [{ error: 'Authentifizierung fehlgeschlagen' }, 'stats', 'refused', ''],
    [{ error: 'x' }, 'disconnect', 'refused', ''],
    [{ error: 'Post is being edited' }, 'newpost', 'child_error', ''],
    [{ error: 'PARSE_ERROR1' }, 'newpost', 'refused', 'PARSE_ERROR1'],
    [{ error: 'x', error_code: 'PARSE_ERROR4' }, 'upgrade', 'refused', 'PARSE_ERROR4'],
    [{ error: 'x', error_code: 'child_plugin_incompatible' }, 'stats', 'outdated', 'child_plugin_incompatible'],
    [{ error: 'x', error_code: 'own_code' }, 'stats', 'child_error', 'own_code'],
  ])('%j on %s is %s', (answer, fn, kind, childCode) => {
    expect(answerFailure(answer, fn)).toMatchObject({ kind, childCode });
  });

  it('an empty error is none, and texts are cleaned', () => {
    expect(answerFailure({ error: '' }, 'stats')).toBeNull();
    expect(answerFailure({ error: [] }, 'stats')).toBeNull();
    const failure = answerFailure({ error: `<b>No</b> &lt;i&gt;${'x'.repeat(5_000)}` }, 'newpost');
    expect(failure?.message).toMatch(/^The site says: "No x{295,297}…"\.$/);
  });

  it.each([
    'REG_ERROR1',
    'REG_ERROR2',
    'REG_ERROR3',
    'REG_ERROR4',
    'REG_ERROR5',
    'REG_ERROR6',
    'REG_ERROR7',
    'REG_ERROR8',
    'REG_ERROR9',
    'REG_ERROR10',
    'reconnect_failed',
  ])('explains %s and says what to do', (code) => {
    for (const answer of [{ error: 'text', error_code: code }, { error: code }]) {
      const failure = registrationFailure(answer);
      expect(failure).toMatchObject({ kind: 'child_error', childCode: code });
      expect(failure?.message).not.toContain(code);
      expect(failure?.advice).not.toBe('');
    }
  });

  it('a registration that says neither OK nor error is no success', () => {
    expect(registrationFailure({ version: '6.1' })).toMatchObject({ kind: 'bad_answer' });
    expect(registrationFailure({ error: 'some text' })).toMatchObject({
      kind: 'child_error',
      message: 'The site says: "some text".',
    });
    expect(registrationFailure({ register: 'OK' })).toBeNull();
  });

  const called = new URL('http://site.example/blog/wp-admin/admin-ajax.php');
  it.each([
    [400, '0', '', 'plugin_missing', false],
    [400, '<html>bad</html>', '', 'unframed', true],
    [401, 'auth', '', 'http_auth', false],
    [403, '<html>', '', 'unframed', true],
    [500, '<p>critical', '', 'unframed', true],
    [200, '<html>', '', 'unframed', true],
    [302, '', '/login', 'redirected', false],
  ])('HTTP %i %s is %s', (status, body, location, kind, mayHaveRun) => {
    expect(unframedFailure({ status, body: Buffer.from(body), location }, called)).toMatchObject({
      kind,
      httpStatus: status,
      mayHaveRun,
    });
  });

  it('knows the maintenance page of WordPress in every language, and no other 503', () => {
    const page = (body: string, retryAfter?: string) => {
      const more = retryAfter === undefined ? {} : { retryAfter };
      return unframedFailure({ status: 503, body: Buffer.from(body), location: '', ...more }, called).kind;
    };
    expect(page('<p>Wegen Wartungsarbeiten ist diese Website kurzzeitig nicht verfügbar.</p>', '600')).toBe(
      'maintenance',
    );
    expect(page('<p>Briefly unavailable for scheduled maintenance.</p>')).toBe('maintenance');
    expect(page('<p>Service Unavailable</p>', '30')).toBe('unframed');
    expect(page('<html><body>Overloaded</body></html>', '600')).toBe('unframed');
  });

  it('names the URL to use instead, without secrets or our endpoint', () => {
    const to = (location: string) => unframedFailure({ status: 301, body: Buffer.alloc(0), location }, called).message;
    expect(to('https://user:pw@site.example/blog/wp-admin/admin-ajax.php?token=1#x')).toBe(
      'The site redirects instead of answering. The site says: "https://site.example/blog/".',
    );
    expect(to('javascript:alert(1)')).toBe('The site redirects instead of answering.');
    expect(to('')).toBe('The site redirects instead of answering.');
  });
});
