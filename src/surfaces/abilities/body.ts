/** Input in the body of a POST run: `{"input": {…}}` (operations §1.4). */

import { invalidInput, ServiceError } from '../../runtime/errors.js';
import { readJson } from '../../runtime/json.js';
import { utf8 } from '../http/utf8.js';

/**
 * Parses the input of a body; `{}` for an empty body or an empty wrapper. Anything else that would have to be guessed
 * is refused, because no input means "all sites" to many operations. For the same reason, and because a form on any web
 * page can send it, an empty body has to be marked as JSON when the operation has effects.
 * @param hasEffects whether the operation does more than read stored data
 * @throws ServiceError `rest_invalid_json`, `invalid_content_type`, or `ability_invalid_input` naming `input`
 */
export function bodyInput(
  bytes: ArrayBuffer,
  contentType: string | undefined,
  hasEffects: boolean,
): Record<string, unknown> {
  const text = utf8(bytes);
  if (text === undefined) throw unreadable('The body is not UTF-8.');
  if (text.trim() === '') {
    if (!hasEffects || isJson(contentType)) return {};
    throw new ServiceError('invalid_content_type', 'The body is empty, and the request is not marked as JSON.', {
      advice: 'Send the header "Content-Type: application/json", and the body {"input": {…}} where there is input.',
    });
  }
  if (!isJson(contentType)) {
    throw invalidInput(
      'input',
      'The body is not marked as JSON, so its input cannot be read.',
      'Send the header "Content-Type: application/json" and the body {"input": {…}}.',
    );
  }
  return unwrap(parse(text));
}

function isJson(contentType: string | undefined): boolean {
  return /^application\/(?:[a-z0-9.+-]+\+)?json(?:\s*;.*)?$/i.test(contentType?.trim() ?? '');
}

function parse(text: string): unknown {
  const json = readJson(text);
  if (json.problem !== undefined) throw unreadable(`The body ${json.problem}.`);
  return json.value;
}

function unreadable(message: string): ServiceError {
  return new ServiceError('rest_invalid_json', message, { advice: 'Send the body {"input": {…}} as JSON in UTF-8.' });
}

function unwrap(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidInput('input', 'The body is not a JSON object.', 'Send the body {"input": {…}}.');
  }
  const stray = Object.keys(body).find((name) => name !== 'input');
  if (stray !== undefined) {
    throw invalidInput(
      'input',
      `The body has the field ${JSON.stringify(stray.slice(0, 80))} outside input, so it would be ignored.`,
      'Wrap all fields: {"input": {…}}.',
    );
  }
  const input = (body as { input?: unknown }).input ?? {};
  if (Array.isArray(input) && input.length === 0) return {};
  if (typeof input !== 'object' || Array.isArray(input)) {
    throw invalidInput('input', 'input is not a JSON object.', 'Send an object: {"input": {…}}.');
  }
  return input as Record<string, unknown>;
}
