/** Routes of the logins of hosting providers (REST §6.10.6). */

import { onOff } from '../../../../schemas/setting-fields.js';
import { hasLogin, parseUrl } from '../../../../schemas/url.js';
import { z } from '../../../../schemas/zod.js';
import { BACKUPS_NOTE, editBackup, listBackups } from '../../../domain/settings/backups.js';
import { once } from '../../../runtime/once.js';
import { ownMember } from '../../../runtime/own-member.js';
import { onlyShown, withoutShown } from '../only-shown.js';
import { cleared } from '../params.js';
import { type Route, route } from '../route.js';

/** A text that may be cleared. No control characters: these values go into headers and addresses. */
const option = (max: number) =>
  cleared
    .value(
      z
        .string()
        .trim()
        .max(max)
        .regex(/^\P{Cc}*$/u, 'must not contain control characters')
        .nullable(),
    )
    .optional();

const login = once(() =>
  z.object({
    label: z.string(),
    enabled: z.boolean(),
    options: z.record(z.string()),
    secrets: z.record(z.string()).describe('Masked.'),
  }),
);

const options = once(() => ({
  url: option(2048)
    .refine(
      (value) => typeof value !== 'string' || /^https?:$/.test(parseUrl(value)?.protocol ?? ''),
      'must be an http or https URL',
    )
    .refine(
      (value) => typeof value !== 'string' || !hasLogin(value),
      'must not contain a login: use username, password or secrets',
    ),
  site_path: option(1000),
  username: option(255),
  account_email: option(254).refine(
    (value) => typeof value !== 'string' || /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value),
    'must be an e-mail address',
  ),
  company_id: option(255),
}));

/** What is known of a provider. */
const FACTS = ['label'] as const;

export const backups: readonly Route[] = [
  route({
    on: 'GET /settings/api-backups',
    summary: 'Read the logins of hosting providers, with secrets masked',
    description: BACKUPS_NOTE,
    params: () => z.object({}),
    returns: () =>
      z.object({
        data: z.object({ api_backups: z.record(login()).describe('By slug of the provider.') }),
        meta: z.object({ notes: z.record(z.string()) }),
      }),
    async answer(_params, ctx) {
      return { data: { api_backups: await listBackups(ctx) }, meta: { notes: { api_backups: BACKUPS_NOTE } } };
    },
  }),
  route({
    on: 'PUT|PATCH /settings/api-backups/{api_slug}/edit',
    change: 'settings',
    body: 'required',
    summary: 'Change the login of a hosting provider',
    description: `Only the fields sent change; null or an empty text clears. Fields the provider does not have are refused. Sending back a masked secret changes nothing. secrets.api_key may be sent under this name, or inside secrets. ${BACKUPS_NOTE}`,
    params: () =>
      z.object({
        api_slug: z.string().max(60),
        ...onlyShown({ label: z.string() }),
        options: z
          .object(options())
          .strict()
          .optional()
          .describe('The fields of the provider, as GET shows them; those sent beside it win.'),
        enabled: onOff()
          .transform((on) => on === 1)
          .nullable()
          .optional(),
        ...options(),
        password: option(1000).describe('Write-only.'),
        secrets: z
          .object({ api_key: option(1000), password: option(1000) })
          .strict()
          .nullable()
          .optional()
          .describe('Write-only.'),
      }),
    returns: () => z.object({ message: z.string(), data: z.record(login()).describe('By slug of the provider.') }),
    async answer({ api_slug, options: shown, ...sent }, ctx) {
      const logins = await listBackups(ctx);
      const change = await withoutShown(sent, FACTS, async () => ownMember(logins, api_slug) ?? {});
      const data = await editBackup(ctx, api_slug, { ...shown, ...change });
      return { message: 'The login was changed.', data: { [api_slug]: data } };
    },
  }),
];
