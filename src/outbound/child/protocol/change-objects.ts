/**
 * The object of an entry in a child's change logs, and its details, from the entry's own keys (child protocol §6.7).
 */

import { siteWord } from '../../../../schemas/site-text.js';
import { plainText } from './text.js';
import { get } from './values.js';

/** The keys under which the two logs keep the name of the changed object, best first. A dot descends into an object. */
const NAMES = [
  'newuserdata.username',
  'changeuserdata.username',
  'changeusername',
  'plugindata.name',
  'theme.name',
  'newtitle',
  'posttitle',
  'menuname',
  'name',
  'title',
  'plugin_name',
  'theme_name',
  'post_title',
  'categoryname',
  'new_name',
  'tagname',
  'tag',
  'widgetname',
  'filename',
  'file_name',
  'file',
  'plugin',
  'theme',
  'task_name',
  'tablenames',
  'login',
  'new_version',
  'slug',
];

/** The keys of old and new values. Values of custom fields are left out: they may contain anything. */
const PAIRS = [
  ['oldrole', 'newrole'],
  ['oldemail', 'newemail'],
  ['oldtitle', 'newtitle'],
  ['oldstatus', 'newstatus'],
  ['oldversion', 'plugindata.version'],
  ['oldversion', 'theme.version'],
  ['old_version', 'version'],
  ['old_version', 'new_version'],
  ['old_name', 'new_name'],
  ['old_slug', 'new_slug'],
  ['oldmenuname', 'menuname'],
  ['oldurl', 'newurl'],
  ['old_url', 'new_url'],
  ['old_displayname', 'new_displayname'],
  ['old_firstname', 'new_firstname'],
  ['old_lastname', 'new_lastname'],
  ['old_nickname', 'new_nickname'],
  ['oldauthor', 'newauthor'],
  ['oldvisibility', 'newvisibility'],
  ['olddate', 'newdate'],
  ['oldparentname', 'newparentname'],
  ['oldparent', 'newparent'],
  ['oldtemplate', 'newtemplate'],
  ['oldcategories', 'newcategories'],
  ['oldsidebar', 'newsidebar'],
  ['metakeyold', 'metakeynew'],
  ['oldpattern', 'newpattern'],
  ['old_homepage', 'new_homepage'],
  ['old_page', 'new_page'],
  ['old_timezone', 'new_timezone'],
  ['old_date_format', 'new_date_format'],
  ['old_time_format', 'new_time_format'],
  ['oldvalue', 'newvalue'],
  ['previous_value', 'new_value'],
] as const;

/** A part of the object, by the key that names it. */
const PARTS = [
  ['commentid', 'comment'],
  ['author', 'by'],
  ['metakey', 'field'],
  ['custom_meta_name', 'field'],
  ['contentname', 'item'],
  ['itemname', 'item'],
  ['friendly_name', 'named'],
  ['tablenames', 'table'],
] as const;

/** Text of an entry by its path; '' if absent. Lists are joined. */
export function textAt(meta: unknown, path: string, max: number): string {
  let value = meta;
  for (const key of path.split('.')) value = get(value, key);
  // Most entries have two or three of the hundred keys.
  if (value === undefined) return '';
  const text = Array.isArray(value) ? value.slice(0, 20).map((one) => plainText(one, max)) : [plainText(value, max)];
  return text.filter((one) => one !== '').join(', ');
}

/** The name of the changed object. */
export function objectName(meta: unknown): string {
  for (const path of NAMES) {
    const text = textAt(meta, path, 256);
    if (text !== '') return text;
  }
  return '';
}

/** Details of the change: `from editor to administrator`, `comment 12, by Jane`; '' if the entry has none. */
export function detailOf(meta: unknown, name: string): string {
  const parts = PARTS.flatMap(([path, word]) => {
    const text = textAt(meta, path, 100);
    return text === '' || text === name ? [] : [`${word} ${siteWord(text)}`];
  });
  return [...parts, ...fromTo(meta)].join(', ');
}

function fromTo(meta: unknown): string[] {
  for (const [before, after] of PAIRS) {
    const [from, to] = [textAt(meta, before, 100), textAt(meta, after, 100)];
    if (from !== '' && to !== '' && from !== to) return [`from ${siteWord(from)} to ${siteWord(to)}`];
  }
  return [];
}
