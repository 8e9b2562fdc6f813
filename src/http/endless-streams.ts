/** Header that marks an event stream in response to a POST as endless; one in response to a GET always is. */
export const ENDLESS_STREAM_HEADER = 'X-Listens';
