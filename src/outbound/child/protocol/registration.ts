import { ChildFailure } from '../failure.js';
import { answerFailure } from './failure.js';
import { get } from './values.js';

const GIVE_LOGIN = "Give the login name of one of the site's administrators.";
const CLEAR_CONNECTION = "Clear the connection in the child plugin's settings on the site, then try again.";
const COPY_ID = 'Copy the unique security ID from the child plugin settings into unique_id.';

/**
 * For a site that is known: a reconnection has no password to send. A child without a key takes the one of any administrator
 * whose password it does not ask for (child protocol §3.2).
 */
const addAgain = (why: string, field: string) =>
  `${why} delete it here with delete-site-v1 and add it with add-site-v1, with the administrator's login and ${field}: its backups stay, and can be restored then.`;
const NEW_INSTALL = addAgain(
  'If WordPress was installed again at this address, switch off the setting of MainWP Child that asks this administrator for the password when a dashboard connects, try again, and switch it on again. Or',
  'admin_password',
);

const NEW_ID = addAgain(
  'Switch off the unique security ID in the settings of the child plugin on the site, and try again. Or',
  'unique_id',
);
const OTHER_ADMIN = addAgain('Make this user an administrator of the site again, and try again. Or', 'admin_password');

/** Plain words for each way a registration fails (child protocol §3.2); `known`: advice where the site is known already. */
const REGISTRATION: Readonly<Record<string, readonly [message: string, advice: string, known?: string]>> = {
  REG_ERROR1: ['The child plugin received no administrator name or no key.', GIVE_LOGIN, NEW_INSTALL],
  REG_ERROR2: ['The site is already connected to another dashboard or by another administrator.', CLEAR_CONNECTION],
  REG_ERROR3: ['The site requires its unique security ID.', COPY_ID, NEW_ID],
  REG_ERROR4: ["The unique security ID does not match the site's.", COPY_ID, NEW_ID],
  REG_ERROR5: ['OpenSSL is missing on the site.', "Ask the site's host to enable the OpenSSL extension of PHP."],
  REG_ERROR6: ['cURL is missing on the site.', "Ask the site's host to enable the cURL extension of PHP."],
  REG_ERROR7: [
    'The site did not accept the administrator login: unknown user, or missing or wrong password.',
    "Check the administrator's login name and give the password in admin_password; it is used once and not stored.",
    NEW_INSTALL,
  ],
  REG_ERROR8: ['The administrator does not exist on the site or cannot log in.', GIVE_LOGIN, OTHER_ADMIN],
  REG_ERROR9: ['The user is not an administrator of the site.', GIVE_LOGIN, OTHER_ADMIN],
  REG_ERROR10: [
    'The site is already connected, and password authentication is disabled for this user.',
    CLEAR_CONNECTION,
  ],
  reconnect_failed: [
    "The site no longer accepts the previous connection's secret.",
    "Give the administrator's password in admin_password; it is used once and not stored.",
    NEW_INSTALL,
  ],
};

/** The failure in a `register` answer, null if it succeeded. */
export function registrationFailure(answer: unknown): ChildFailure | null {
  if (get(answer, 'register') === 'OK') return null;
  const error = get(answer, 'error');
  const rawCode = get(answer, 'error_code');
  // Older children put the code in the text.
  const candidates = [rawCode, error].filter((one): one is string => typeof one === 'string');
  const code = candidates.find((one) => Object.hasOwn(REGISTRATION, one)) ?? '';
  const known = REGISTRATION[code];
  if (known !== undefined) {
    const [message, adviceBeforeAdded, advice = adviceBeforeAdded] = known;
    return new ChildFailure('child_error', message, { childCode: code, advice, adviceBeforeAdded });
  }
  const other = answerFailure(answer, 'register');
  if (other !== null) return other;
  return new ChildFailure('bad_answer', 'The site gave an unexpected answer to the registration.', {
    advice: 'Update the MainWP Child plugin on the site and try again.',
    mayHaveRun: true,
  });
}
