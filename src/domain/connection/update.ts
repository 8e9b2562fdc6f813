/** Changes a site through the operations (operations §8 S5). */

import type { SiteChange } from '../../../schemas/site.js';
import { ServiceError } from '../../runtime/errors.js';
import type { Ctx } from '../context.js';
import { getSite, type SiteRef } from '../sites/resolve.js';
import { type SiteView, siteView } from '../sites/sites.js';
import { editSite, type SiteEdit } from './edit.js';

/**
 * Changes only the given fields; unknown or wrong values are refused before anything is written. Throws as `editSite`.
 */
export async function updateSite(ctx: Ctx, ref: SiteRef, change: SiteChange): Promise<SiteView> {
  if (change.name === '')
    throw new ServiceError('svc_invalid_input', 'name must not be blank.', {
      field: 'name',
      advice: 'Send a name, or omit the field to keep the current one.',
    });
  refuseContradictingTags(change);
  const site = await getSite(ctx, ref);
  const given = Object.entries(change)
    .filter(([, value]) => value !== undefined)
    .map(([field, value]) => [field, field.startsWith('http_') && value === '' ? null : value] as const);
  return siteView(ctx, await editSite(ctx, site, Object.fromEntries(given) as SiteEdit));
}

/** `tags` is the complete list, so the same call cannot add or remove any. */
function refuseContradictingTags({ tags, add_tags = [], remove_tags = [] }: SiteChange): void {
  const field = add_tags.length > 0 ? 'add_tags' : 'remove_tags';
  if (tags !== undefined && add_tags.length + remove_tags.length > 0)
    throw new ServiceError('svc_invalid_input', `tags and ${field} are both given, and tags replaces all tags.`, {
      field,
      advice: 'Send tags to replace all tags, or add_tags and remove_tags to change some of them.',
    });
  const both = add_tags.find((id) => remove_tags.includes(id));
  if (both !== undefined)
    throw new ServiceError('svc_invalid_input', `Tag ${both} is both in add_tags and in remove_tags.`, {
      field: 'remove_tags',
      advice: 'Name each tag in one of the two lists.',
    });
}
