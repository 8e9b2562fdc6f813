/** What the tags of a page say, and that no text in the value of an attribute passes for an attribute. */

import { describe, expect, it } from 'vitest';
import { factsOf } from '../../src/domain/updates/safe/page-facts.js';
import { attribute } from '../../src/domain/updates/safe/tag-attributes.js';

const URL_OF_SITE = 'https://example.com/';
const described = (body: string, robots = '') =>
  factsOf(
    {
      ...{
        status: 200,
        location: '',
        content_type: 'text/html',
        sets_cookies: false,
        cut: false,
        ms: 1,
        failure: null,
      },
      ...{ body, robots },
    },
    URL_OF_SITE,
  );
/** A look in the sandbox; `session` = what the guard says of it. */
const look = (body: string, session = 'nonce') =>
  factsOf(
    {
      ...{ status: 200, location: '', content_type: 'text/html', sets_cookies: false, cut: false, ms: 1 },
      ...{ failure: null, body, session },
    },
    URL_OF_SITE,
    'nonce',
  );
const page = (head: string, body = '') => `<!doctype html><html><head>${head}</head><body>${body}</body></html>`;

it.each([
  ['id="a" name=b', 'id', 'a'],
  [' ID = \'a "b"\'', 'id', 'a "b"'],
  [' id=a/b name', 'id', 'a/b'],
  [' data-id="x" id="a" id="b"', 'id', 'a'],
  [' title="Bob id=\'c\'" id="a"', 'id', 'a'],
  [' title="Bob id=c"', 'id', ''],
  [' title="Bob id=c', 'id', ''],
  [' title=Bob"id=c" id=a', 'id', 'a'],
  [' disabled id="a"/', 'id', 'a'],
  ['"id="a"', 'id', 'a'],
])('of the attributes %j, %s is %j', (attributes, name, value) => {
  expect(attribute(attributes, name)).toBe(value);
});

describe('search engines', () => {
  const META = '<meta name="robots" content="noindex">';
  it.each([
    ['in the head', page(META)],
    ['as WordPress writes it', page("<meta name='robots' content='max-image-preview:large, noindex, follow' />")],
    ['without quotes', page('<meta content=none name=GoogleBot>')],
    ['beside one that a visitor makes up', page(`<meta name="author" content="Bob name=robots all">${META}`)],
    ['in a head without its end', `<html><head><title>Shop</title>${META}<body><p>Words</p>`],
    ['in a head that has no tags', `<!doctype html><title>Shop</title>${META}<p>Words</p>`],
    ['behind a script', `<!doctype html><script>"<body>"</script>${META}<p>Words</p>`],
  ])('are sent away %s', (_where, body) => {
    expect(described(body).markup.noindex).toBe(true);
  });

  it.each([
    ['in the name of an author', page('<meta name="author" content="Bob name=robots none">')],
    ['in the name of a reviewer', page('', '<meta itemprop="author" content="Bob name=robots noindex">')],
    ['in a single quote', page('<meta property="og:title" content="Bob \'name=\'robots\' content=\'none">')],
    ['in another value of the same tag', page('<meta name="robots" content="index" data-by="Bob content=none">')],
    ['of another name', page('<meta name="robots-txt" content="noindex">')],
    ['of a size', page('<meta name="robots" content="max-image-preview:none, max-snippet: none">')],
    ['behind the head', page('', META)],
    ['behind a head without its end', `<html><head><title>Shop</title><body>${META}`],
    ['behind a head that has no tags', `<!doctype html><title>Shop</title><p>Words</p>${META}`],
    ['in the title', page(`<title>How to ${META}</title>`)],
  ])('are not sent away by words %s', (_where, body) => {
    expect(described(body).markup.noindex).toBe(false);
  });

  it.each([
    ['noindex', true],
    ['googlebot: noindex, nofollow', true],
    ['all, googlebot: none', true],
    ['max-image-preview:none, max-snippet:-1', false],
  ])('read the header %s', (header, noindex) => {
    expect(described(page(''), header).markup.noindex).toBe(noindex);
  });
});

it('a visitor who calls himself an attribute changes nothing of what a tag leads to', () => {
  const bob = (attributes: string) => `title="Bob ${attributes}"`;
  const tags = (planted: (attributes: string) => string) =>
    page(
      `<link ${planted('rel=canonical href=//evil.example/')} rel="icon" href="/icon.png">
       <link ${planted('rel=stylesheet href=//evil.example/a.css')} rel="icon" href="/icon.png">
       <link rel="canonical" ${planted('href=https://evil.example/')} href="https://example.com/a/">`,
      `<iframe ${planted('src=//evil.example/a')} src="https://maps.example/"></iframe>
       <a ${planted('rel=nofollow class=wp-block-latest-comments__x')} href="https://partner.example/">Partner</a>
       <script ${planted("src='/evil.js'")} src="/own.js"></script>
       <div ${planted("id='comment-8'")}></div><li id="comment-7" ${planted("id='comment-9'")}></li>`,
    );
  const [planted, plain] = [described(tags(bob)), described(tags(() => ''))];
  expect(planted.markup).toEqual(plain.markup);
  expect(planted.assets).toEqual(['/own.js']);
  expect(plain.markup).toMatchObject({
    canonical: 'https://example.com/a/',
    hosts: ['maps.example', 'partner.example'],
    linked: ['maps.example', 'partner.example'],
    comments: ['7'],
  });
});

it('frames that are loaded late, and links that visitors have left, are told', () => {
  const { markup } = described(
    page(
      '<link rel="preload stylesheet" href="//styles.example/a.css">',
      `<iframe data-src="https://late.example/"></iframe><a rel="external nofollow ugc" href="https://reader.example/">Reader</a>
       <a class="a wp-block-latest-comments__comment-author" href="https://commenter.example/">Commenter</a>`,
    ),
  );
  expect(markup.hosts).toEqual(['late.example', 'styles.example']);
});

it('a button that is told to send a form elsewhere is one, and one that a visitor makes up is none', () => {
  const form = '<form id="contact"><input name="a"><input name="b"></form>';
  const submits = (button: string) => described(page('', form + button)).markup.forms.map(({ submit }) => submit);
  expect(submits('<button form=contact>Send</button>')).toEqual([true]);
  expect(submits('<button title="Bob form=\'contact\'">Send</button>')).toEqual([false]);
});

it('of a page that ends with a message of WordPress, a look tells if the guard says all that was refused', () => {
  const body = '<h1>Dashboard</h1><div class="wp-die-message"><p>Oh no.</p></div></body>\n</html>\n\t';
  expect(look(body, 'nonce  all').errors).toEqual(['wp_die()']);
  expect(look(body, 'nonce 0badcafe all').errors).toEqual(['wp_die()']);
  // A guard before 1.9.0.
  expect(look(body, 'nonce 0badcafe').errors).toEqual([]);
  expect(described(body).errors).toEqual(['wp_die()']);
});

it('parts of wp-admin are elements, not words in a value', () => {
  const planted = `<a title="id='adminmenu'" href="/load-scripts.php?load=wp-data">x</a><b title="id='post_ID' value='9'">`;
  expect(look(planted)).toMatchObject({ parts: [] });
  expect(look(planted).editing).toBeUndefined();
  expect(
    look(
      `<ul id=adminmenu></ul><script src="/wp-admin/load-scripts.php?c=0&#038;load%5Bchunk_0%5D=wp-data&ver=6"></script><input type='hidden' id='post_ID' name='post_ID' value='9' />`,
    ),
  ).toMatchObject({ parts: ['adminmenu', 'wp-data.js'], editing: '9' });
});
