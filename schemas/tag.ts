/** Schemas of tags that more than one operation uses. */

import { once } from '../src/runtime/once.js';
import { id, lineText, timestamp } from './common.js';
import { z } from './zod.js';

const tagColor = once(() => z.string().nullable().describe('#RRGGBB; null = none chosen.'));

export const tagListItem = once(() =>
  z.object({
    id: z.number().int(),
    name: z.string(),
    color: tagColor(),
    sites_count: z.number().int(),
  }),
);

/** A complete tag (operations §8.3). */
export const tag = once(() => tagListItem().extend({ created_at: timestamp(), updated_at: timestamp() }));

/** Fields that identify the tag in outputs about its parts. */
export const tagHead = once(() => ({ tag_id: z.number().int(), tag_name: z.string() }));

export const tagRef = once(() => id().describe('Tag id.'));

const clean = once(() => lineText(255));

export const tagNameInput = once(() =>
  z
    .string()
    .min(1)
    .max(255)
    .transform((text) => clean().parse(text)),
);

export const tagColorInput = once(() =>
  z.string().regex(/^#[0-9A-Fa-f]{6}$/, 'must be a hex color in the form #RRGGBB, for example #5EC130'),
);
