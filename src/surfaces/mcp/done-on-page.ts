/**
 * What no operation does, because a person decides it: the topics that people ask assistants for nevertheless, and the page
 * on which each is done.
 */

interface Topic {
  what: string;
  /** Its place: the address on the page, with its name. */
  path: string;
  page: string;
  /** Words that ask for it, if all of one line are in the question. */
  asked: readonly string[];
}

const TOPICS: readonly Topic[] = [
  {
    what: 'API keys are made, changed and revoked, with the right to read, or to read and change; a key is for all sites, not for single clients,',
    path: '/access',
    page: 'Access',
    asked: [
      'api key',
      'access key',
      'create key',
      'new key',
      'make key',
      'revoke key',
      'rotate key',
      'api token',
      'restrict key',
      'limit key',
      'read only key',
      'key client',
      'assistant access',
      'access client',
    ],
  },
  {
    what: 'Users of Sitefleet, their passwords and rights are set',
    path: '/access',
    page: 'Access',
    asked: [
      'user sitefleet',
      'user dashboard',
      'invite user',
      'user role sitefleet',
      'permission role',
      'colleague access',
      'invite colleague',
      'add colleague',
      'reset password',
      'change password',
      'my password',
      'user permission',
      'colleague right',
      'approve right',
      'right approve',
    ],
  },
  {
    what: 'Requests are approved or refused, and the rules for what needs approval are set',
    path: '/approvals',
    page: 'Approvals',
    asked: [
      'rule approval',
      'policy approval',
      'approval setting',
      'approve request',
      'refuse request',
      'approval preset',
      'require approval',
      'approve myself',
    ],
  },
  {
    what: 'Policies of automatic updates are made, changed and switched',
    path: '/policies',
    page: 'Policies',
    asked: [
      'create policy',
      'new policy',
      'change policy',
      'edit policy',
      'delete policy',
      'disable policy',
      'enable policy',
      'turn automatic',
      'enable automatic',
      'disable automatic',
      'schedule automatic',
      'turn auto',
      'disable auto',
      'enable auto',
    ],
  },
  {
    what: 'Mail, recipients of alerts, webhooks and chats are set',
    path: '/settings',
    page: 'Settings',
    asked: [
      'smtp',
      'mail server',
      'mail setting',
      'recipient',
      'webhook',
      'slack',
      'alert setting',
      'notification setting',
      'who alert',
    ],
  },
  {
    what: 'Other settings of Sitefleet, such as its time zone, the daily sync and the backups of its database, are set',
    path: '/settings',
    page: 'Settings',
    asked: [
      'backup setting',
      'database backup',
      'backup sitefleet',
      'setting backup',
      'configure backup',
      'time zone',
      'timezone',
      'sync time',
      'global setting',
      'general setting',
      'sitefleet setting',
      'dashboard setting',
    ],
  },
  {
    what: 'Reports are scheduled and mailed to clients',
    path: '/reports',
    page: 'Reports',
    asked: ['schedule report', 'mail report', 'email report', 'automatic report', 'report template'],
  },
];

/**
 * Where a person does what is asked for; undefined if no topic is meant.
 * @param words of the question, stemmed
 * @param stem stems the words of a text
 */
export function placeOf(
  words: readonly string[],
  stem: (text: string) => string[],
  baseUrl: string,
): string | undefined {
  const asked = new Set(words);
  const topic = TOPICS.find((one) => one.asked.some((line) => stem(line).every((word) => asked.has(word))));
  if (topic === undefined) return undefined;
  return `No operation does this: a person does it on the page. ${topic.what} under “${topic.page}”: ${baseUrl}${topic.path}`;
}
