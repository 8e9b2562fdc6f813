/** Routes of the tags. The routes document refers to them as groups without listing them (REST §7). */

import { siteOfOwner } from '../../../../schemas/site.js';
import { tag, tagColorInput, tagListItem, tagNameInput } from '../../../../schemas/tag.js';
import { z } from '../../../../schemas/zod.js';
import {
  addTag,
  deleteTag,
  getTag,
  listTagClients,
  listTagSites,
  listTags,
  previewDeleteTag,
  updateTag,
} from '../../../domain/tags/tags.js';
import { once } from '../../../runtime/once.js';
import { cleared, ids, int, paging, text } from '../params.js';
import { listRoute, type Route, route } from '../route.js';
import { exampleListedTag, exampleTag } from '../schemas/examples.js';
import { listOf, recordOf, writtenOf } from '../schemas/records.js';

const path = once(() => ({ tag_id: int(1).describe('Id of the tag.') }));
const where = { tag_id: /^[1-9]\d{0,14}$/ };
const color = once(() => cleared.value(tagColorInput().nullable().optional()).describe('#RRGGBB; null or "" = none.'));

const clientOfTag = once(() =>
  z.object({
    id: z.number().int(),
    name: z.string(),
    email: z.string(),
    sites_with_tag: z.number().int(),
  }),
);

export const tags: readonly Route[] = [
  listRoute({
    on: 'GET /tags',
    summary: 'List tags',
    params: () =>
      z.object({
        ...paging(20, 100),
        search: text(255).default('').describe('Part of the name, case-insensitive.'),
        include: ids().optional(),
        exclude: ids().optional(),
      }),
    example: { total: 1, page: 1, per_page: 20, pages: 1, data: [exampleListedTag] },
    returns: () => listOf(tagListItem()),
    list: ({ page, per_page, search, include = [], exclude = [] }, ctx) =>
      listTags(ctx, { search, include, exclude }, page, per_page),
  }),
  route({
    on: 'POST /tags/add',
    change: 'other',
    body: 'required',
    summary: 'Create a tag',
    params: () => z.object({ name: tagNameInput(), color: color() }),
    example: { message: 'The tag was added.', data: exampleTag },
    returns: () => writtenOf(tag()),
    answer: async (input, ctx) => ({ message: 'The tag was added.', data: await addTag(ctx, input) }),
  }),
  route({
    on: 'GET /tags/{tag_id}',
    where,
    summary: 'Read a tag',
    params: () => z.object(path()),
    returns: () => recordOf(tag()),
    answer: async ({ tag_id }, ctx) => ({ data: await getTag(ctx, tag_id) }),
  }),
  route({
    on: 'POST|PUT|PATCH /tags/{tag_id}/edit',
    change: 'other',
    body: 'required',
    where,
    summary: 'Change a tag',
    params: () => z.object({ ...path(), name: tagNameInput().optional(), color: color() }),
    returns: () => writtenOf(tag()),
    answer: async ({ tag_id, ...change }, ctx) => ({
      message: 'The tag was changed.',
      data: await updateTag(ctx, tag_id, change),
    }),
  }),
  route({
    on: 'DELETE /tags/{tag_id}/remove',
    change: 'deletions',
    plan: ({ tag_id }, ctx) => previewDeleteTag(ctx, tag_id),
    where,
    summary: 'Delete a tag',
    description: 'Its sites stay.',
    params: () => z.object(path()),
    returns: () => writtenOf(z.object({ id: z.number().int(), name: z.string() })),
    answer: async ({ tag_id }, ctx) => {
      const { tag_name } = await deleteTag(ctx, tag_id);
      return { message: 'The tag was deleted. Its sites stay.', data: { id: tag_id, name: tag_name } };
    },
  }),
  route({
    on: 'GET /tags/{tag_id}/sites',
    where,
    summary: 'List the sites of a tag',
    params: () => z.object({ ...path(), ...paging(20, 100) }),
    returns: () => listOf(siteOfOwner()),
    answer: async ({ tag_id, page, per_page }, ctx) => {
      const { sites, total } = await listTagSites(ctx, tag_id, page, per_page);
      return { total, page, per_page, data: sites };
    },
  }),
  route({
    on: 'GET /tags/{tag_id}/clients',
    where,
    summary: 'List the clients that own sites with a tag',
    params: () => z.object({ ...path(), ...paging(20, 100) }),
    returns: () => listOf(clientOfTag()),
    answer: async ({ tag_id, page, per_page }, ctx) => {
      const { clients, total } = await listTagClients(ctx, tag_id, page, per_page);
      return { total, page, per_page, data: clients };
    },
  }),
];
