/** What is known of the forms of a page, and which of their losses count. */

import { expect, it } from 'vitest';
import { formsOf, lostForms, saidOn } from '../../src/domain/updates/safe/page-forms.js';

const CONTACT =
  '<form id="wpcf7-f12-o1" class="wpcf7"><input type="hidden" name="_nonce" value="x"><input name="your-name"><textarea name="text"></textarea><button>Send</button></form>';
const REPLACED = { replaced: ['your-name'], replacedFields: ['your-name', 'text'] };
const SEARCH = '<form role="search"><input name="s"></form>';
const NOTHING = { unsendable: [], replaced: [], replacedFields: [], gone: [], fields: [] };
const lost = (before: string, now: string, more = false) =>
  lostForms(formsOf(before), formsOf(before), formsOf(now), { more, muchLess: false });

it('a form is known by what people fill in', () => {
  expect(formsOf(`${SEARCH}${CONTACT}`)).toEqual([
    { key: 's', fields: ['s'], submit: true, buttons: 0, text: '', before: '', after: '' },
    { key: 'wpcf#-f#-o#', fields: ['your-name', 'text'], submit: true, buttons: 1, text: '', before: '', after: '' },
  ]);
});

it('one that can no longer be sent is told from one that is gone, and from one that has lost a field', () => {
  expect(lost(CONTACT, CONTACT.replace('<button>Send</button>', ''))).toEqual({
    ...NOTHING,
    unsendable: ['your-name'],
  });
  expect(lost(CONTACT, SEARCH)).toEqual({ ...NOTHING, gone: ['your-name'] });
  expect(lost(CONTACT, CONTACT.replace('<textarea name="text"></textarea>', ''))).toEqual({
    ...NOTHING,
    fields: ['text'],
  });
});

it('a button that only shows the password does not send a login', () => {
  const login = `<form id="loginform"><input name="log"><input type="password" name="pwd">
    <button type="button" class="hide-pw"></button><input type="submit" value="Log In"></form>`;
  const without = login.replace('<input type="submit" value="Log In">', '');
  expect(lost(login, without)).toEqual({ ...NOTHING, unsendable: ['log'] });
});

it('words in place of its button are not those of the button, nor those of other buttons', () => {
  const form = (text: string) => `<p>Tickets</p>${CONTACT.replace('<button>Send</button>', text)}`;
  const sent = form('<p>Early: sold out</p><button><b>Send</b> now</button><button type="button">Clear</button>');
  const of = (text: string) => lost(sent, form(`<p>Early: sold out</p>${text}<button type="button">Erase</button>`));
  expect(of('')).toEqual({ ...NOTHING, unsendable: ['your-name'] });
  expect(of('<p>Late: sold out</p>')).toEqual({ ...NOTHING, ...REPLACED });
  expect(of('sold')).toEqual({ ...NOTHING, ...REPLACED });
});

it('words in place of its button may stand behind it, or elsewhere on the page', () => {
  const full = CONTACT.replace('<button>Send</button>', '');
  const far = '<p>Long words about something else.</p>'.repeat(10);
  expect(lost(CONTACT, `${full}<p>Fully booked</p>`)).toEqual({ ...NOTHING, ...REPLACED });
  expect(lost(CONTACT + far, `${full}${far}<p>Fully booked</p>`)).toEqual({ ...NOTHING, unsendable: ['your-name'] });
  expect(lost(CONTACT + far, `${full}${far}<p>Fully booked</p>`, true)).toEqual({ ...NOTHING, ...REPLACED });
  // What moves there where something else is gone is nothing new.
  const note = '<p>All fields are required</p>';
  expect(lost(`${CONTACT}${note}${far}`, full + far)).toEqual({ ...NOTHING, unsendable: ['your-name'] });
  expect(lost(`${far}${note}${CONTACT}`, far + full)).toEqual({ ...NOTHING, unsendable: ['your-name'] });
  expect(lost(`${CONTACT}${note}${far}`, `${full}<p>Required</p>${far}`)).toEqual({ ...NOTHING, ...REPLACED });
  // The button of the next form is no word.
  const next = SEARCH.replace('</form>', '<button>Go</button></form>');
  expect(lost(CONTACT + next, full + next.replace('Go', 'Find'))).toEqual({ ...NOTHING, unsendable: ['your-name'] });
});

it.each([
  ['the login', '<form><input name="log"><input name="pwd"><button>Log in</button></form>', 'log'],
  ['the search', '<form><input name="s"><select name="cat"></select><button>Go</button></form>', 's'],
])('%s can be booked up by nobody, whatever is said beside it', (_what, form, field) => {
  const now = `<p>Fully booked</p>${form.replace(/<button>.*<\/button>/, 'Sorry')}`;
  expect(lost(form, now, true)).toEqual({ ...NOTHING, unsendable: [field] });
});

it('what a page says is neither its buttons nor the comments of visitors', () => {
  const page = `<p>Come all</p>${CONTACT}`;
  const comment = '<article id="comment-7"><p>Nice</p></article>';
  expect(saidOn(page)).toMatchObject({ words: 2 });
  expect(saidOn(page.replace('<button>Send</button>', '') + comment)).toEqual(saidOn(page));
  expect(saidOn(page.replace('Come', 'Nobody'))).not.toEqual(saidOn(page));
});

it.each([
  ['another id and another text', CONTACT.replaceAll('12', '13').replace('Send', 'Send it')],
  ['another kind of button', CONTACT.replace('<button>Send</button>', '<input type="submit" value="Send">')],
  ['a button for a script', CONTACT.replace('<button>', '<button type="button">')],
  ['one more field', CONTACT.replace('<textarea', '<input name="phone"><textarea')],
  [
    'its button outside',
    CONTACT.replace('<button>Send</button></form>', '</form><button form="wpcf7-f12-o1">Send</button>'),
  ],
  ['a class of another theme', CONTACT.replace('id="wpcf7-f12-o1" class="wpcf7"', 'class="form"')],
])('nothing is lost by %s', (_what, now) => {
  expect(lost(CONTACT, now)).toEqual(NOTHING);
});

it('a search form that is gone is not counted, and needs no button', () => {
  expect(lost(SEARCH, '')).toEqual(NOTHING);
});

it('a page of a megabyte is read in no time', () => {
  expect(formsOf('<form '.repeat(20_000))).toEqual([]);
  expect(formsOf(`<form>${'<input '.repeat(20_000)}`)).toEqual([]);
  const form = '<input name="a"><input name="b">';
  for (const part of ['<button>', '<button>a<b>', '<', '>', '<button a', '<button>a<b></b>'])
    expect(formsOf(`${part.repeat(20_000)}<form>${form}${part.repeat(20_000)}`.slice(0, 1_048_576))).toHaveLength(1);
});

it('of two that are alike the one that goes is missed', () => {
  const two = `${CONTACT}${CONTACT.replace('wpcf7-f12-o1', 'newsletter')}`;
  expect(lost(two, CONTACT)).toEqual({ ...NOTHING, gone: ['your-name'] });
});
