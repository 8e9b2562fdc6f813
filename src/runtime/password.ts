/** Rules for passwords that people choose. */

import { ServiceError } from './errors.js';

/** Throws `svc_invalid_input`. */
export function requirePassword(password: string): void {
  if (password.length >= 8 && password.length <= 200) return;
  throw new ServiceError('svc_invalid_input', 'A password has 8 to 200 characters. Nothing changed.', {
    field: 'password',
    advice: 'Choose another one.',
  });
}
