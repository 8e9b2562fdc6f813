/** Update levels as stored: 0 patch, 1 minor, 2 major. */

import { LEVELS, type Level } from '../../../schemas/search.js';

export function levelNumbers(levels: readonly Level[]): number[] {
  return levels.map((level) => LEVELS.indexOf(level));
}
