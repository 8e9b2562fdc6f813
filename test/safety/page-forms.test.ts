/** What is known of the forms of a page, and which of their losses count. */

import { expect, it } from 'vitest';
import { formsOf, lostForms } from '../../src/domain/updates/safe/page-forms.js';

const CONTACT =
  '<form id="wpcf7-f12-o1" class="wpcf7"><input type="hidden" name="_nonce" value="x"><input name="your-name"><textarea name="text"></textarea><button>Send</button></form>';
const SEARCH = '<form role="search"><input name="s"></form>';
const lost = (before: string, now: string) => lostForms(formsOf(before), formsOf(before), formsOf(now));

it('a form is known by what people fill in', () => {
  expect(formsOf(`${SEARCH}${CONTACT}`)).toEqual([
    { key: 's', fields: ['s'], submit: true, buttons: 0 },
    { key: 'wpcf#-f#-o#', fields: ['your-name', 'text'], submit: true, buttons: 1 },
  ]);
});

it('one that can no longer be sent is told from one that is gone, and from one that has lost a field', () => {
  expect(lost(CONTACT, CONTACT.replace('<button>Send</button>', ''))).toEqual({
    unsendable: ['your-name'],
    gone: [],
    fields: [],
  });
  expect(lost(CONTACT, SEARCH)).toEqual({ unsendable: [], gone: ['your-name'], fields: [] });
  expect(lost(CONTACT, CONTACT.replace('<textarea name="text"></textarea>', ''))).toEqual({
    unsendable: [],
    gone: [],
    fields: ['text'],
  });
});

it('a button that only shows the password does not send a login', () => {
  const login = `<form id="loginform"><input name="log"><input type="password" name="pwd">
    <button type="button" class="hide-pw"></button><input type="submit" value="Log In"></form>`;
  const without = login.replace('<input type="submit" value="Log In">', '');
  expect(lost(login, without)).toEqual({ unsendable: ['log'], gone: [], fields: [] });
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
  expect(lost(CONTACT, now)).toEqual({ unsendable: [], gone: [], fields: [] });
});

it('a search form that is gone is not counted, and needs no button', () => {
  expect(lost(SEARCH, '')).toEqual({ unsendable: [], gone: [], fields: [] });
});

it('a page of a megabyte is read in no time', () => {
  expect(formsOf('<form '.repeat(20_000))).toEqual([]);
  expect(formsOf(`<form>${'<input '.repeat(20_000)}`)).toEqual([]);
});

it('of two that are alike the one that goes is missed', () => {
  const two = `${CONTACT}${CONTACT.replace('wpcf7-f12-o1', 'newsletter')}`;
  expect(lost(two, CONTACT)).toEqual({ unsendable: [], gone: ['your-name'], fields: [] });
});
