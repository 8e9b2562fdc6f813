/** Sending mail: the port between the verbs and the mail server. `smtp.ts` implements it. */

export interface OutgoingMail {
  /** The same for every attempt of one mail, so that mail clients show a repeated one once. */
  messageId: string;
  to: readonly string[];
  subject: string;
  text: string;
  html: string;
}

/** A mail that was not accepted. The message is safe to show: it contains no login and no recipient's address. */
export class MailFailure extends Error {
  /** The server refused permanently, of several recipients at least one: the same mail would be refused again. */
  readonly permanent: boolean;
  /** Where others have received it: who has not, and may yet. */
  readonly remaining: readonly string[];

  constructor(message: string, permanent: boolean, more: { cause?: unknown; remaining?: readonly string[] } = {}) {
    super(message, more);
    this.name = 'MailFailure';
    this.permanent = permanent;
    this.remaining = more.remaining ?? [];
  }
}

export interface Mailer {
  /** False: no mail server is configured, and nothing may be sent. */
  readonly configured: boolean;
  /** Resolves when the server has accepted the mail for all recipients. Rejects with MailFailure, also once `signal` is aborted. */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<void>;
  /** Connects and logs in without sending anything. Rejects with MailFailure, also once `signal` is aborted. */
  verify(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** For a service without a mail server, and for the serving thread: nothing may be sent. */
export function noMailer(configured = false): Mailer {
  const refuse = () => Promise.reject(new MailFailure('Mail cannot be sent from here.', false));
  return {
    configured,
    send: refuse,
    verify: refuse,
    close: async () => undefined,
  };
}
