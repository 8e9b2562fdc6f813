/**
 * Limits lists in messages outside of tool arguments: the SDKs create one error object per invalid member, unbounded.
 */

/** Maximum number of members of all lists in one body. Clients send a handful of icons, subscriptions and the like. */
const MAX_LISTED = 1000;

/** The reason, to follow a subject such as "The body". */
export const LISTS_TOO_LONG = `has more than ${MAX_LISTED} members of lists outside of arguments`;

/**
 * Whether a message or a batch holds more than `MAX_LISTED` list members. Tool arguments do not count: their operation
 * validates them. The depth is already bounded (`runtime/json.ts`).
 */
export function holdsLongLists(body: unknown): boolean {
  let room = MAX_LISTED;
  const isOver = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null) return false;
    if (!Array.isArray(value)) return Object.values(value).some(isOver);
    room -= value.length;
    return room < 0 || value.some(isOver);
  };
  return [body].flat().some((message) => isOver(withoutArguments(message)));
}

function withoutArguments(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('params' in message)) return message;
  const { params } = message;
  if (typeof params !== 'object' || params === null || !('arguments' in params)) return message;
  return { ...message, params: { ...params, arguments: undefined } };
}
