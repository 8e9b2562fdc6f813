/** The meaning of the entry types of the child's activity log (`log_type_id`, child protocol §6.7), in plain words. */

/** Precedes the name of the object; `{post}` is the type of the post. Other types use the child's own words. */
const PHRASES: Readonly<Record<number, string>> = {
  1200: 'Created {post}',
  1205: 'Published {post}',
  1210: 'Modified {post}',
  1215: 'Permanently deleted {post}',
  1220: 'Permanently deleted {post}',
  1225: 'Moved to trash {post}',
  1230: 'Restored from trash {post}',
  1235: 'Changed category of {post}',
  1240: 'Changed URL of {post}',
  1245: 'Changed author of {post}',
  1250: 'Changed status of {post}',
  1255: 'Changed parent of {post}',
  1260: 'Changed template of {post}',
  1265: 'Made sticky {post}',
  1270: 'Made no longer sticky {post}',
  1275: 'Created custom field in {post}',
  1280: 'Submitted for review {post}',
  1285: 'Scheduled {post}',
  1290: 'Changed visibility of {post}',
  1295: 'Changed date of {post}',
  1300: 'Modified content of {post}',
  1305: 'Changed title of {post}',
  1320: 'Allowed comments on {post}',
  1321: 'Closed comments on {post}',
  1325: 'Allowed trackbacks on {post}',
  1326: 'Closed trackbacks on {post}',
  1330: 'Modified excerpt of {post}',
  1335: 'Changed featured image of {post}',
  1340: 'Took over {post}',
  1345: 'Added relationship in custom field of',
  1350: 'Removed relationship in custom field of',
  1355: 'Changed custom field of',
  1360: 'Deleted custom field of',
  1365: 'Renamed custom field of',
  1380: 'Changed parent of category',
  1385: 'Renamed category',
  1390: 'Changed slug of category',
  1395: 'Added tag to {post}',
  1400: 'Removed tag from {post}',
  1405: 'Renamed tag',
  1410: 'Changed slug of tag',
  1415: 'Changed description of tag',
  1445: 'Moved widget',
  1450: 'Changed position of widget',
  1455: 'Edited plugin file',
  1460: 'Changed automatic updates of plugin',
  1465: 'Edited theme file',
  1470: 'Changed automatic updates of theme',
  1480: 'Added item to menu',
  1485: 'Removed item from menu',
  1495: 'Changed settings of menu',
  1500: 'Modified item of menu',
  1505: 'Renamed menu',
  1510: 'Changed order of menu',
  1515: 'Moved item within menu',
  1520: 'Approved comment on',
  1525: 'Unapproved comment on',
  1530: 'Replied to comment on',
  1535: 'Edited comment on',
  1540: 'Marked as spam a comment on',
  1545: 'Marked as not spam a comment on',
  1550: 'Moved to trash a comment on',
  1555: 'Restored from trash a comment on',
  1560: 'Permanently deleted comment on',
  1565: 'Posted comment on',
  1570: 'Logged in',
  1575: 'Logged out',
  1580: 'Logged in beside other sessions',
  1585: 'Ended all other sessions of user',
  1590: 'Ended session of user',
  1595: 'Switched to user',
  1596: 'Logged in from a dashboard',
  1600: 'Requested password reset',
  1615: 'Changed role of user',
  1620: 'Changed forum role of user',
  1625: 'Changed own password',
  1630: 'Changed password of user',
  1635: 'Changed own email address',
  1640: 'Changed email address of user',
  1650: 'Granted super admin rights to user',
  1655: 'Revoked super admin rights of user',
  1660: 'Added network user to site',
  1665: 'Removed network user from site',
  1670: 'Created network user',
  1675: 'Activated network user',
  1685: 'Changed profile field of user',
  1690: 'Created profile field of user',
  1695: 'Changed first name of user',
  1700: 'Changed last name of user',
  1705: 'Changed nickname of user',
  1710: 'Changed display name of user',
  1715: 'Changed website of user',
  1720: 'Added application password for user',
  1721: 'Removed application password of user',
  1725: 'Added application password for user',
  1726: 'Removed application password of user',
  1730: 'Revoked all application passwords of user',
  1735: 'Revoked all application passwords of user',
  1740: 'Database table created by plugin',
  1745: 'Database table changed by plugin',
  1750: 'Database table deleted by plugin',
  1755: 'Database table created by theme',
  1760: 'Database table changed by theme',
  1765: 'Database table deleted by theme',
  1770: 'Database table created',
  1775: 'Database table changed',
  1780: 'Database table deleted',
};

/** Types about a setting of WordPress: its name is their object. */
const SETTINGS: Readonly<Record<number, string>> = {
  1785: 'Anyone can register',
  1790: 'Default role of new users',
  1795: 'Administration email address',
  1800: 'Permalinks',
  1805: 'Discourage search engines',
  1810: 'Allow comments on new posts',
  1815: 'Comment author must fill out name and email',
  1820: 'Users must be logged in to comment',
  1825: 'Close comments automatically',
  1830: 'Days until comments are closed',
  1835: 'Comments must be approved',
  1840: 'Comment author must have an approved comment',
  1845: 'Links that hold a comment for moderation',
  1850: 'Keywords that hold a comment for moderation',
  1855: 'Keywords that disallow a comment',
  1860: 'WordPress address (URL)',
  1865: 'Site address (URL)',
  1870: 'Homepage displays',
  1875: 'Homepage',
  1880: 'Posts page',
  1885: 'Time zone',
  1890: 'Date format',
  1895: 'Time format',
  1900: 'Automatic updates of WordPress',
  1905: 'Site language',
  1910: 'Site title',
  1915: 'Site icon',
  1920: 'Site icon',
};

/**
 * The action, where the child's own word is less precise: it calls a publication "modified", a move to the trash
 * "deleted".
 */
const ACTIONS: Readonly<Record<number, string>> = {
  1205: 'published',
  1225: 'trashed',
  1455: 'file-edited',
  1465: 'file-edited',
  1520: 'approved',
  1525: 'unapproved',
  1530: 'replied',
  1535: 'edited',
  1540: 'spammed',
  1545: 'unspammed',
  1550: 'trashed',
  1555: 'restored',
  1565: 'posted',
  1615: 'role-changed',
  1620: 'role-changed',
  1650: 'role-changed',
  1655: 'role-changed',
  1660: 'added',
  1665: 'removed',
  1670: 'created',
};

const CONTEXTS: Readonly<Record<number, string>> = { 1420: 'media', 1425: 'media', 1455: 'plugin', 1465: 'theme' };

/** Types of WordPress' own timers: no user made those changes. */
const TIMERS = { first: 1925, last: 1955 };
/** Views without a change: a post was opened or viewed, a profile was opened. */
const LOOKS: ReadonlySet<number> = new Set([1310, 1315, 1680]);

export function phraseOf(type: number): string {
  return PHRASES[type] ?? '';
}

export function settingOf(type: number): string {
  return SETTINGS[type] ?? '';
}

/** The action of an entry; the child's own word where it is precise enough. */
export function actionOfType(type: number, own: string): string {
  return ACTIONS[type] ?? own;
}

export function contextOfType(type: number, own: string): string {
  return CONTEXTS[type] ?? own;
}

/** Entries that are not changes made by a user on the site. */
export function isNoChange(type: number, context: string, action: string): boolean {
  const timer = context === 'cron-job' || (type >= TIMERS.first && type <= TIMERS.last);
  return timer || LOOKS.has(type) || action === 'viewed' || action === 'opened';
}
