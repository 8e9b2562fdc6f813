import { shapeProblem } from '../../json-shape.js';
import { ChildFailure } from '../failure.js';

const OPEN = '<mainwp>';
const CLOSE = '</mainwp>';
/** Maximum number of frames read, from the end. A body with more is not a genuine answer. */
const MAX_FRAMES = 16;
/**
 * The decoded JSON of a body's frame, `undefined` if there is no frame (child protocol §1.1). Anything may surround it.
 * Of several frames the last readable one counts: the child prints its answer last. Throws `bad_answer` if there are
 * frames, but none can be read. None reaches past the beginning of the next: what is decoded is one body in all.
 */
export function readFrame(body: Buffer): unknown {
  let end = body.length;
  let problem: string | null = null;
  for (let seen = 0; seen < MAX_FRAMES; seen++) {
    const open = end <= 0 ? -1 : body.lastIndexOf(OPEN, end - 1, 'latin1');
    if (open < 0) break;
    const rest = body.subarray(open + OPEN.length, end);
    const close = rest.indexOf(CLOSE, 0, 'latin1');
    const result = close < 0 ? { problem: 'is cut short' } : decode(rest.subarray(0, close));
    if ('value' in result) return result.value;
    problem ??= result.problem;
    end = open;
  }
  if (problem === null) return undefined;
  throw new ChildFailure('bad_answer', `The child plugin's answer ${problem}.`, {
    advice: "Look for PHP errors in the site's log, then try again.",
    mayHaveRun: true,
  });
}

type Decoded = { value: unknown } | { problem: string };

function decode(slice: Buffer): Decoded {
  const json = Buffer.from(slice.toString('latin1'), 'base64');
  // The child failed to encode its own data, usually for text that is not UTF-8.
  if (json.length === 0) return { problem: 'is empty' };
  const problem = shapeProblem(json);
  if (problem !== null) return { problem };
  try {
    return { value: JSON.parse(json.toString('utf8')) as unknown };
  } catch {
    return { problem: 'is not readable JSON' };
  }
}
