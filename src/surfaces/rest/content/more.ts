/** What a list of live content says about the sites that have more than it shows. */

import { z } from '../../../../schemas/zod.js';
import { once } from '../../../runtime/once.js';

export const moreOn = once(() =>
  z.array(z.number().int()).describe('Sites that have more than `maximum`: ask for more, or for fewer days.'),
);
