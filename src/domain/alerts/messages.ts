/**
 * Builds the messages for each type of recipient. Pure. Texts of sites are shown literally: they cannot format or
 * mention anything.
 */

import type { RecipientType } from '../../../schemas/alerts.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { AlertTarget } from '../../store/monitoring/alert-recipients.js';
import { beginningOf, oneLine, TONE_COLOURS, type Tone } from './mail/layout.js';
import { type MailedAlert, toneOf, wordsOf } from './words.js';

export interface Post {
  url: string;
  headers?: Record<string, string>;
  body: unknown;
}

/** The content of a message, independent of the service that shows it. */
interface Words {
  title: string;
  lines: string[];
  /** URL of the site concerned; '' if there are several. */
  url: string;
  /** Of the link to it. */
  label: string;
  page: string | null;
  tone: Tone;
  at: number;
}

export interface MessageOptions {
  /** Our own page, if it has a public address. */
  page: string | null;
  /** Zone of the times. */
  zone: string;
  test: boolean;
}

/** Maximum lines of a message about many alerts. */
const LINES = 20;
const MARK: Readonly<Record<Tone, string>> = { bad: '🔴', good: '🟢', warning: '🟠' };

/** The body of a webhook, one alert each (Standard Webhooks). */
export function webhookPost(target: AlertTarget, alert: MailedAlert, { page, zone, test }: MessageOptions): Post {
  const { text, facts } = wordsOf(alert, zone);
  const { site_id: id, site_name: name, site_url: url } = alert;
  return {
    url: target.url,
    body: {
      type: alert.kind,
      timestamp: isoTime(alert.at),
      data: {
        alert_id: alert.id,
        test,
        text,
        site: id === null || name === null ? null : { id, name: oneLine(name), url: url ?? '' },
        link: page,
        facts: cleaned(facts),
      },
    },
  };
}

/** Texts inside are cleaned and bounded as in the words. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return oneLine(value, 2048);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cleaned(one)]));
}

/** One chat message: for one alert, or for many that arrive together. */
export function chatPost(
  type: Exclude<RecipientType, 'webhook'>,
  target: AlertTarget,
  alerts: readonly MailedAlert[],
  options: MessageOptions,
): Post {
  return CHATS[type](target, wordsFor(alerts, options));
}

function wordsFor(alerts: readonly MailedAlert[], { page, zone, test }: MessageOptions): Words {
  const messages = alerts.map((alert) => ({
    ...wordsOf(alert, zone),
    label: alert.kind === 'approval.asked' ? 'View the request' : 'Open the site',
    tone: toneOf(alert.kind),
    at: alert.at,
  }));
  const [first] = messages;
  const prefix = test ? 'Test: ' : '';
  if (first === undefined) throw new RangeError('A message needs at least one alert.');
  if (messages.length === 1) {
    const { subject, text, url, label, tone, at } = first;
    return { title: `${prefix}${subject}`, lines: [text], url, label, page, tone, at };
  }
  const left = messages.length - LINES;
  return {
    title: `${prefix}${messages.length} alerts`,
    lines: [...messages.slice(0, LINES).map(({ text }) => text), ...(left > 0 ? [`And ${left} more.`] : [])],
    url: '',
    label: '',
    page,
    tone: (['bad', 'warning'] as const).find((worst) => messages.some(({ tone }) => tone === worst)) ?? 'good',
    at: Math.max(...messages.map(({ at }) => at)),
  };
}

const CHATS: Readonly<Record<Exclude<RecipientType, 'webhook'>, (target: AlertTarget, words: Words) => Post>> = {
  slack,
  discord,
  teams,
  telegram,
  ntfy,
};

function linksOf({ url, label, page }: Words): { label: string; url: string }[] {
  return [
    ...(/^https?:\/\//.test(url) ? [{ label, url }] : []),
    ...(page === null ? [] : [{ label: 'Open Sitefleet', url: page }]),
  ];
}

/** Three characters are special to Slack, and `<!channel>` would notify everyone. */
function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function slack({ url }: AlertTarget, words: Words): Post {
  const plain = (text: string) => ({ type: 'plain_text', text, emoji: false });
  const links = linksOf(words);
  const buttons = links.map((link) => ({ type: 'button', text: plain(link.label), url: link.url }));
  const text = `${MARK[words.tone]} ${words.title}: ${words.lines[0]}`;
  return {
    url,
    body: {
      text: slackText(text),
      attachments: [
        {
          color: TONE_COLOURS[words.tone],
          blocks: [
            { type: 'header', text: plain(beginningOf(words.title, 150)) },
            { type: 'section', text: plain(beginningOf(words.lines.join('\n'), 3000)) },
            ...(buttons.length === 0 ? [] : [{ type: 'actions', elements: buttons }]),
          ],
        },
      ],
    },
  };
}

/** Escapes Markdown, so that a text is shown as written. */
function discordText(text: string): string {
  return text.replace(/[\\*_~`|>#()[\]<-]/g, '\\$&');
}

function discord({ url }: AlertTarget, words: Words): Post {
  const links = linksOf(words).map((link) => `[${link.label}](<${link.url}>)`);
  const description = [...words.lines.map(discordText), ...(links.length === 0 ? [] : ['', links.join(' · ')])];
  return {
    url,
    body: {
      username: 'Sitefleet',
      allowed_mentions: { parse: [] },
      embeds: [
        {
          title: beginningOf(discordText(words.title), 256),
          description: beginningOf(description.join('\n'), 4096),
          color: Number.parseInt(TONE_COLOURS[words.tone].slice(1), 16),
          timestamp: isoTime(words.at),
        },
      ],
    },
  };
}

/** An adaptive card, as workflows accept it. Text runs do not interpret Markdown, unlike text blocks. */
function teams({ url }: AlertTarget, words: Words): Post {
  const colour = { bad: 'attention', good: 'good', warning: 'warning' }[words.tone];
  const line = (text: string, more: object = {}) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...more }],
  });
  return {
    url,
    body: {
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
            type: 'AdaptiveCard',
            version: '1.4',
            body: [
              line(words.title, { weight: 'bolder', size: 'medium', color: colour }),
              ...words.lines.map((text) => line(text)),
            ],
            actions: linksOf(words).map((link) => ({ type: 'Action.OpenUrl', title: link.label, url: link.url })),
          },
        },
      ],
    },
  };
}

/** Without a parse mode, so that the text is shown literally. */
function telegram({ url, token, chat_id }: AlertTarget, words: Words): Post {
  const buttons = linksOf(words)
    // Telegram refuses the whole message if a button links to an address without a dot.
    .filter((link) => new URL(link.url).hostname.includes('.'))
    .map((link) => [{ text: link.label, url: link.url }]);
  return {
    url: `${url.replace(/\/$/, '')}/bot${token}/sendMessage`,
    body: {
      chat_id,
      text: beginningOf(`${MARK[words.tone]} ${words.title}\n\n${words.lines.join('\n')}`, 4096),
      link_preview_options: { is_disabled: true },
      ...(buttons.length === 0 ? {} : { reply_markup: { inline_keyboard: buttons } }),
    },
  };
}

/** As JSON to the server's root: headers, the alternative, cannot carry accents. */
function ntfy({ url, token }: AlertTarget, words: Words): Post {
  const { origin, pathname } = new URL(url);
  const parts = pathname.split('/').filter((part) => part !== '');
  const topic = parts.pop() ?? '';
  const links = linksOf(words);
  return {
    url: `${origin}/${parts.join('/')}`,
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    body: {
      topic,
      title: beginningOf(words.title, 250),
      message: beginningOf(words.lines.join('\n'), 3500),
      priority: { bad: 4, good: 3, warning: 3 }[words.tone],
      tags: [{ bad: 'red_circle', good: 'green_circle', warning: 'orange_circle' }[words.tone]],
      ...(links[0] === undefined ? {} : { click: links[0].url }),
      actions: links.map((link) => ({ action: 'view', label: link.label, url: link.url })),
    },
  };
}
