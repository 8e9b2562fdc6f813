/** Sending mail: the port between the verbs and the mail server. `smtp.ts` implements it. */

export interface OutgoingMail {
  /** The same for every try of one mail, so that mail programs show a repeated one once. */
  messageId: string;
  to: readonly string[];
  subject: string;
  text: string;
  html: string;
}

/** A mail that was not taken. The message is safe to show: no login, no address of a recipient. */
export class MailFailure extends Error {
  /** The server refused for good: the same mail would be refused again. */
  readonly permanent: boolean;

  constructor(message: string, permanent: boolean, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'MailFailure';
    this.permanent = permanent;
  }
}

export interface Mailer {
  /** False: no mail server is set, and nothing may be sent. */
  readonly configured: boolean;
  /** Resolves when the server has taken the mail for all recipients. Rejects with MailFailure. */
  send(mail: OutgoingMail): Promise<void>;
  /** Connects and logs in, and sends nothing. Rejects with MailFailure. */
  verify(): Promise<void>;
  close(): Promise<void>;
}

/** Where nothing may be sent: without a mail server, and in the serving thread. */
export function noMailer(configured = false): Mailer {
  const refuse = () => Promise.reject(new MailFailure('Mail cannot be sent from here.', false));
  return {
    configured,
    send: refuse,
    verify: refuse,
    close: async () => undefined,
  };
}
