import type { Operation } from '../../src/operation/operation.js';
import addTag from './add-tag-v1.js';
import deleteTag from './delete-tag-v1.js';
import getTagClients from './get-tag-clients-v1.js';
import getTagSites from './get-tag-sites-v1.js';
import getTag from './get-tag-v1.js';
import listTags from './list-tags-v1.js';
import updateTag from './update-tag-v1.js';

/** The operations on tags, in the order they are listed. */
export const tags: readonly Operation[] = [listTags, getTag, addTag, updateTag, deleteTag, getTagSites, getTagClients];
