/** Mail through the user's SMTP server. */

import { domainToASCII } from 'node:url';
import { createTransport, type Transporter } from 'nodemailer';
import { type Mailer, MailFailure, type OutgoingMail } from './mailer.js';

const CONNECT_MS = 15_000;
const SILENCE_MS = 30_000;

export interface SmtpParts {
  /** `smtp://user:password@host:587` or `smtps://…:465`. */
  url: string;
  /** Sender; null = the login if it is an address, otherwise derived from the host. */
  from: string | null;
}

export function createMailer({ url, from }: SmtpParts): Mailer {
  const server = new URL(url);
  const sender = from ?? senderOf(server);
  let transport: Transporter | null = null;
  return {
    configured: true,
    async send(mail, signal) {
      transport ??= createTransport(optionsOf(server));
      await sendOver(transport, sender, mail, signal);
    },
    async verify(signal) {
      transport ??= createTransport(optionsOf(server));
      try {
        await untilAborted(transport.verify(), signal);
      } catch (error) {
        throw failureOf(error);
      }
    },
    async close() {
      transport?.close();
      transport = null;
    },
  };
}

function optionsOf(server: URL) {
  const secure = server.protocol === 'smtps:';
  const host = server.hostname.replace(/^\[(.*)\]$/, '$1');
  const user = decodeURIComponent(server.username);
  return {
    host,
    port: server.port === '' ? (secure ? 465 : 587) : Number(server.port),
    secure,
    // A password is never sent unencrypted, except within this machine.
    requireTLS: !secure && user !== '' && !/^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host),
    ...(user === '' ? {} : { auth: { user, pass: decodeURIComponent(server.password) } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // A mail contains only our text and markup: it never reads a file or fetches a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function senderOf(server: URL): string {
  const user = decodeURIComponent(server.username);
  return user.includes('@')
    ? `Sitefleet <${user}>`
    : `Sitefleet <sitefleet@${server.hostname.replace(/^\[|\]$/g, '')}>`;
}

interface SmtpError {
  responseCode?: unknown;
  code?: unknown;
  command?: unknown;
  response?: unknown;
}

/** Nodemailer cannot end a look at the login: it is left to itself, and the caller told. */
async function untilAborted(look: Promise<unknown>, signal: AbortSignal): Promise<void> {
  let end: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    end = () => reject(Object.assign(new Error('aborted'), { code: 'EABORT' }));
  });
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  try {
    await Promise.race([look, aborted]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Of one recipient where others were taken. */
interface Refusal extends SmtpError {
  recipient: string;
}

/** What the server answers to with the recipients and the text of this mail. */
const OF_THE_MAIL = ['RCPT TO', 'DATA'];
/** By policy (RFC 3463 §3.8): the sender, this network or relaying is refused, which many servers say only there. */
const BY_POLICY = /^\d{3}[ -]5\.7\./;

function failureOf(error: unknown): MailFailure {
  const { code, responseCode } = error as SmtpError;
  return new MailFailure(reasonOf(code, statusOf(responseCode)), isPermanent(error as SmtpError), { cause: error });
}

/** A refused connection, login or sender is for the operator to fix: the mail waits. */
function isPermanent({ responseCode, command, response }: SmtpError): boolean {
  const status = statusOf(responseCode);
  return status >= 500 && status < 600 && OF_THE_MAIL.includes(String(command)) && !BY_POLICY.test(String(response));
}

function statusOf(responseCode: unknown): number {
  return typeof responseCode === 'number' ? responseCode : 0;
}

function reasonOf(code: unknown, status: number): string {
  if (code === 'EAUTH') return 'The mail server refused the login.';
  if (code === 'EABORT') return 'The mail server did not answer in time.';
  return status > 0 ? `The mail server answered with ${status}.` : 'The mail server could not be reached.';
}

async function sendOver(
  transport: Transporter,
  sender: string,
  mail: OutgoingMail,
  signal: AbortSignal,
): Promise<void> {
  let refusals: readonly Refusal[];
  try {
    const sent = await transport.sendMail({
      from: sender,
      to: [...mail.to],
      subject: mail.subject,
      text: mail.text,
      html: mail.html,
      messageId: mail.messageId,
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
      signal,
    });
    refusals = (sent as { rejectedErrors?: Refusal[] }).rejectedErrors ?? [];
  } catch (error) {
    throw failureOf(error);
  }
  if (refusals.length === 0) return;
  // The others have received it: another attempt is for those alone who may yet, as where a server has first attempts wait.
  const waiting = new Set(
    refusals.filter((refusal) => !isPermanent(refusal)).map(({ recipient }) => onTheWire(recipient)),
  );
  const remaining = mail.to.filter((address) => waiting.has(onTheWire(address)));
  const message = `The mail server refused ${refusals.length} of the recipients.`;
  throw new MailFailure(message, remaining.length < refusals.length, { remaining });
}

/** As addresses are sent: their domains encoded and in lower case. */
function onTheWire(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + (domainToASCII(address.slice(at)) || address.slice(at));
}
