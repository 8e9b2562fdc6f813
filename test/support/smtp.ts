/** A real SMTP server on loopback that stores the mails it receives. */

import { SMTPServer } from 'smtp-server';
import { listenLocally } from './local-server.js';

export interface ReceivedMail {
  from: string;
  to: string[];
  headers: Record<string, string>;
  text: string;
  html: string;
}

export interface Mailbox {
  /** The value for SITEFLEET_SMTP_URL. */
  url: string;
  mails: ReceivedMail[];
  /** Number of connections so far. */
  visits: number;
  /** Refuses the next mails with these codes. */
  refuse(...codes: number[]): void;
  close(): Promise<void>;
}

export async function mailbox(login = { user: 'fleet@example.com', pass: 'p@ss/word' }): Promise<Mailbox> {
  const refusals: number[] = [];
  const box: Mailbox = {
    url: '',
    mails: [],
    visits: 0,
    refuse: (...codes) => refusals.push(...codes),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    logger: false,
    onConnect: (_session, callback) => {
      box.visits++;
      callback();
    },
    onAuth: (auth, _session, callback) =>
      auth.username === login.user && auth.password === login.pass
        ? callback(null, { user: login.user })
        : callback(new Error('Invalid username or password')),
    onData(stream, session, callback) {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const code = refusals.shift();
        if (code !== undefined) {
          callback(Object.assign(new Error('Not now'), { responseCode: code }));
          return;
        }
        const from = session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address;
        box.mails.push({
          from,
          to: session.envelope.rcptTo.map(({ address }) => address),
          ...parse(Buffer.concat(parts).toString('utf8')),
        });
        callback();
      });
    },
  });
  const { port } = await listenLocally(server.server);
  box.url = `smtp://${encodeURIComponent(login.user)}:${encodeURIComponent(login.pass)}@127.0.0.1:${port}`;
  return box;
}

/** Parses just enough of MIME for one multipart/alternative. */
function parse(raw: string) {
  const [head, body] = split(raw);
  const headers = headersOf(head);
  const boundary = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '')?.[1] ?? '';
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => split(part.replace(/^\r\n/, '')));
  const of = (type: string) => {
    const [partHead = '', partBody = ''] =
      parts.find(([partHead]) => headersOf(partHead)['content-type']?.startsWith(type)) ?? [];
    return decode(partBody, headersOf(partHead)['content-transfer-encoding'] ?? '');
  };
  return { headers, text: of('text/plain'), html: of('text/html') };
}

function split(message: string): [string, string] {
  const at = message.indexOf('\r\n\r\n');
  return [message.slice(0, at), message.slice(at + 4)];
}

function headersOf(head: string): Record<string, string> {
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at).toLowerCase(), word(line.slice(at + 1).trim())];
    }),
  );
}

/** Decodes the encoded words of a header (RFC 2047). */
function word(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi, (_all, kind: string, body: string) =>
      kind.toUpperCase() === 'B' ? Buffer.from(body, 'base64').toString('utf8') : quoted(body.replaceAll('_', ' ')),
    );
}

function decode(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  return encoding === 'quoted-printable' ? quoted(body) : body;
}

function quoted(body: string): string {
  const bytes = body
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8').replaceAll('\r\n', '\n');
}
