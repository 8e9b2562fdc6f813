/** The forms of a page: which fields each has, and whether it can be sent. Pure. Nothing is ever sent. */

import { createHash } from 'node:crypto';
import { attribute } from './tag-attributes.js';

/** A form that visitors fill in. */
export interface FormFacts {
  /** What tells it from the others of its page. */
  key: string;
  /** Names of the fields that people fill in. */
  fields: string[];
  /** It has a button that sends it, or needs none: a browser sends a form of one field with the Enter key. */
  submit: boolean;
  /** All buttons: a script may send a form by one that only scripts know. */
  buttons: number;
  /** Its text but for that of its buttons, and what stands before and behind it. */
  text: string;
  before: string;
  after: string;
}

/** The text of a page with forms, without its buttons and the comments of visitors. */
export interface Said {
  /** Of how many words it consists. */
  words: number;
  /** The same text has the same. */
  digest: string;
}

const FORM = /<form\b([^<>]{0,2000})>([\s\S]*?)(?:<\/form\s*>|$)/gi;
const FIELD = /<(input|select|textarea|button)\b([^<>]{0,2000})>/gi;
/** Types of `input` that are buttons. */
const BUTTONS: readonly string[] = ['submit', 'image', 'button', 'reset'];
export const MOST_FORMS = 20;
const MOST_FIELDS = 100;
const BUTTON = /<button\b[^<>]{0,2000}>[^<>]{0,500}(?:<(?!\/?button\b)[^<>]{0,500}>[^<>]{0,500}){0,20}<\/button\s*>/gi;
/** Characters of a form's text, of what stands before and behind it, and of the markup in which that is looked for. */
const MOST_TEXT = 4_000;
const MOST_BESIDE = 600;
const MARKUP_BESIDE = 4_000;
/** Words this near to a form may say that it is booked up. What moves there from further away does not. */
const NEAR = 200;

/** Elements that may be a visitor's comment, and the ids of those that are: links to comments lead to them. */
const MAY_BE_COMMENT = /<(li|div|article|section)\b([^<>]{0,2000})>/gi;
const COMMENT_ID = /^(?:[a-z]{2,20}-)?comment-(\d{1,20})$/i;
/** Buttons may stand elsewhere than the form that they send. */
const MAY_SEND = /<(?:button|input)\b([^<>]{0,2000})>/gi;

/** Where visitors' comments begin, and their numbers. In their texts WordPress lets neither such elements nor ids pass. */
export function commentsIn(page: string): { index: number; tag: string; id: string }[] {
  return [...page.matchAll(MAY_BE_COMMENT)].flatMap(({ index, 1: tag = '', 2: attributes = '' }) => {
    const id = COMMENT_ID.exec(attribute(attributes, 'id'))?.[1];
    return id === undefined ? [] : [{ index, tag, id }];
  });
}

/** The page without what visitors wrote, which may stand before a form. */
function withoutComments(page: string): string {
  const parts: string[] = [];
  let at = 0;
  for (const { index, tag } of commentsIn(page)) {
    if (index < at) continue;
    const end = page.indexOf(`</${tag}>`, index);
    if (end < 0) break;
    parts.push(page.slice(at, index));
    at = end;
  }
  return parts.length === 0 ? page : [...parts, page.slice(at)].join('');
}

/** @param page without scripts, styles and comments of its author */
export function formsOf(page: string): FormFacts[] {
  const shown = withoutComments(page);
  const forms: FormFacts[] = [];
  const elsewhere = new Set([...shown.matchAll(MAY_SEND)].map(([, attributes = '']) => attribute(attributes, 'form')));
  for (const { index, 0: form, 1: attributes = '', 2: inside = '' } of shown.matchAll(FORM)) {
    const { fields, buttons, sending } = fieldsOf(inside);
    if (fields.length === 0) continue;
    const id = attribute(attributes, 'id');
    forms.push({
      key: keyOf(attributes, fields),
      fields,
      submit: sending > 0 || fields.length === 1 || (id !== '' && elsewhere.has(id)),
      buttons,
      text: textOf(inside.slice(0, 20 * MOST_TEXT).replace(BUTTON, ' ')).slice(0, MOST_TEXT),
      before: textOf(shown.slice(Math.max(0, index - MARKUP_BESIDE), index)).slice(-MOST_BESIDE),
      after: textBehind(shown, index + form.length),
    });
    if (forms.length === MOST_FORMS) break;
  }
  return forms;
}

/** @param page as for `formsOf` */
export function saidOn(page: string): Said {
  const text = withoutComments(page)
    .replace(BUTTON, ' ')
    .replace(/<[^<>]{0,2000}>/g, ' ');
  const hash = createHash('sha256');
  let words = 0;
  for (const [word] of text.matchAll(/\p{L}{2,40}/gu)) {
    words++;
    hash.update(`${word} `);
  }
  return { words, digest: hash.digest('hex').slice(0, 8) };
}

/** A button of the next form is no text, nor is the beginning of a tag. */
function textBehind(shown: string, at: number): string {
  const markup = shown.slice(at, at + MARKUP_BESIDE).replace(BUTTON, ' ');
  return textOf(`>${markup.replace(/<[^<>]*$/, '')}`).slice(0, MOST_BESIDE);
}

/** The text of a piece of markup, which may begin within a tag. */
function textOf(markup: string): string {
  return markup
    .replace(/^[^<>]*>/, '')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function fieldsOf(inside: string): { fields: string[]; buttons: number; sending: number } {
  const fields = new Set<string>();
  let buttons = 0;
  let sending = 0;
  for (const [, tag = '', attributes = ''] of inside.matchAll(FIELD)) {
    const type = attribute(attributes, 'type').toLowerCase();
    if (tag.toLowerCase() === 'button' || (tag.toLowerCase() === 'input' && BUTTONS.includes(type))) {
      if (type === 'reset') continue;
      buttons++;
      if (type !== 'button') sending++;
      continue;
    }
    const name = attribute(attributes, 'name');
    if (type !== 'hidden' && name !== '' && fields.size < MOST_FIELDS) fields.add(name.slice(0, 100));
  }
  return { fields: [...fields], buttons, sending };
}

/** Numbers in ids count the forms of a page, or are new in each look. */
function keyOf(attributes: string, fields: readonly string[]): string {
  const name = attribute(attributes, 'id') || attribute(attributes, 'name') || attribute(attributes, 'class');
  return name.replace(/\d+/g, '#').slice(0, 100) || fields.join(' ').slice(0, 200);
}

/** Fields of forms that belong to the site: the search and the login of WordPress. */
const OF_THE_SITE: readonly (readonly string[])[] = [['s'], ['log', 'pwd']];

/** Which of those forms it is, '' if none: others may offer something that visitors can book up. */
export function formOfSite({ fields }: FormFacts): string {
  return OF_THE_SITE.find((own) => own.every((field) => fields.includes(field)))?.join() ?? '';
}

/** What happened to forms that were there in both earlier looks. */
export interface LostForms {
  /** Can no longer be sent. */
  unsendable: string[];
  /** The same, but there are words that were not there, as where all places are booked. */
  replaced: string[];
  /** All fields of these. */
  replacedFields: string[];
  gone: string[];
  /** Fields of forms that are still there. */
  fields: string[];
}

/** What a page says otherwise than before, outside of its buttons and of comments. */
export interface OtherWords {
  /** Words that it did not have, somewhere. */
  more: boolean;
  /** It has lost so many that other text has moved beside its forms. */
  muchLess: boolean;
}

export function lostForms(
  first: readonly FormFacts[],
  second: readonly FormFacts[],
  now: readonly FormFacts[],
  words: OtherWords,
): LostForms {
  const lost: LostForms = { unsendable: [], replaced: [], replacedFields: [], gone: [], fields: [] };
  for (const one of first) {
    const again = second.find(({ key }) => key === one.key);
    // Forms of one field are searches and the like: those come and go.
    if (again === undefined || one.fields.length < 2) continue;
    const steady = one.fields.filter((field) => again.fields.includes(field));
    const renamed = now.filter(({ key }) => !first.some((known) => known.key === key));
    const left = now.find(({ key }) => key === one.key) ?? renamed.find(({ fields }) => sameFields(fields, steady));
    if (left === undefined) {
      // Of more forms than are read, it may come later.
      if (now.length < MOST_FORMS) lost.gone.push(one.fields[0] ?? '');
      continue;
    }
    const fewer = left.buttons < Math.min(one.buttons, again.buttons);
    if (one.submit && again.submit && !left.submit && fewer) {
      const bookedUp = formOfSite(one) === '' && (words.more || saysMoreBeside(one, again, left, words));
      (bookedUp ? lost.replaced : lost.unsendable).push(one.fields[0] ?? '');
      if (bookedUp) lost.replacedFields.push(...one.fields);
    }
    lost.fields.push(...steady.filter((field) => !left.fields.includes(field)));
  }
  return lost;
}

/** Whether a form, or what stands beside it, has words that it did not have. Of a form whose text varies anyway it is not known. */
function saysMoreBeside(one: FormFacts, again: FormFacts, now: FormFacts, { muchLess }: OtherWords): boolean {
  if (one.text !== again.text || addsWords(one.text, now.text)) return true;
  const adds = (known: string, near: string, is: string) => !known.includes(is) && addsWords(near, is) && !muchLess;
  const before = adds(one.before, one.before.slice(-NEAR), now.before.slice(-NEAR));
  const behind = adds(one.after, one.after.slice(0, NEAR), now.after.slice(0, NEAR));
  return (before && one.before === again.before) || (behind && one.after === again.after);
}

/** A word that was there once may be there twice: one kind of ticket after the other is sold out. */
function addsWords(before: string, now: string): boolean {
  const left = before.split(' ');
  return now.split(' ').some((word) => {
    const at = left.indexOf(word);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function sameFields(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((field) => others.includes(field));
}
