/** Lists in messages, outside of what tools are given: the SDKs make an error object for each wrong member, however many there are. */

/** Members of all lists of one body together. Clients send icons, subscriptions and the like by the handful. */
const MAX_LISTED = 1000;

/** Said of such a body, after its name. */
export const LISTS_TOO_LONG = `holds more than ${MAX_LISTED} members of lists outside of arguments`;

/**
 * Whether a message, or several, hold more members in lists than that. Arguments of tools are left out: their operation judges
 * them. The depth is bounded already (`json.ts`).
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
