/** Set on an answer to a POST that only listens, which would never end by itself; one to a GET always does. */
export const ENDLESS_STREAM_HEADER = 'X-Listens';
