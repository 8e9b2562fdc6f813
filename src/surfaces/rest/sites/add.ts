/** Parameters and error codes of the route that connects a site (REST §6.2.1). */

import { siteName } from '../../../../schemas/site.js';
import { z } from '../../../../schemas/zod.js';
import { addSite } from '../../../domain/connection/connection.js';
import { editSite } from '../../../domain/connection/edit.js';
import type { Ctx } from '../../../domain/context.js';
import { loadRecord } from '../../../domain/sites/sites.js';
import { ServiceError } from '../../../runtime/errors.js';
import { once } from '../../../runtime/once.js';
import { ownMember } from '../../../runtime/own-member.js';
import type { SiteRow } from '../../../store/sites/sites.js';
import { invalidParam } from '../parameter-errors.js';
import { flag, ids, int, text } from '../params.js';

export const addSiteParams = once(() =>
  z.object({
    url: text(2048, 1).describe('URL of the site, http or https.'),
    admin: text(255, 1).describe("Login name of one of the site's administrators."),
    name: siteName().optional().describe("Default: the site's title, or the host of its URL."),
    adminpassword: text(1024).optional().describe('Used once for the handshake, never stored.'),
    uniqueid: text(255).optional().describe('Unique security id, if the child plugin has one.'),
    ssl_verify: flag().default(true).describe("Verify the site's certificate."),
    force_use_ipv4: int(0, 2).default(2).describe('0 no, 1 yes, 2 = the global setting.'),
    http_user: text(255).optional().describe('User name of the HTTP login in front of the site.'),
    http_pass: text(1024).optional().describe('Password of that login.'),
    groupids: ids(100).optional().describe('Ids of tags, comma-separated.'),
    client_id: int(0).nullable().optional().describe('Id of the client; 0 for none.'),
  }),
);

export type AddSiteParams = z.output<ReturnType<typeof addSiteParams>>;

/** Throws the codes of the operation, except where REST has its own. */
export async function connectSite(ctx: Ctx, params: AddSiteParams): Promise<SiteRow> {
  const { id } = await addSite(ctx, {
    url: params.url,
    admin: params.admin,
    name: params.name,
    client_id: params.client_id === 0 || params.client_id === null ? undefined : params.client_id,
    tags: params.groupids,
    http_user: params.http_user,
    http_pass: params.http_pass,
    ssl_verify: params.ssl_verify,
    ipv4_only: params.force_use_ipv4 === 2 ? undefined : params.force_use_ipv4 === 1,
    admin_password: params.adminpassword,
    unique_id: params.uniqueid,
  }).catch((error: unknown) => {
    throw inRestWords(error, params);
  });
  const site = await loadRecord(ctx, id);
  return params.force_use_ipv4 === 2 ? site : editSite(ctx, site, { force_use_ipv4: params.force_use_ipv4 });
}

function inRestWords(error: unknown, params: AddSiteParams): unknown {
  if (!(error instanceof ServiceError)) return error;
  switch (error.code) {
    case 'svc_site_already_exists':
      return new ServiceError('svc_rest_site_exists', error.message, {
        field: 'url',
        advice: 'Change the site with PUT /v2/sites/{id}/edit, or renew its connection with …/reconnect.',
        data: { found_id: error.data.site_id },
      });
    case 'svc_invalid_credentials':
      return error.field === 'unique_id' && params.uniqueid === undefined ? uniqueIdNeeded(error) : loginRefused(error);
    default:
      return linkInRestWords(error);
  }
}

/** Converts the error for a wrong address, and for an unknown client or tag of a site, to its REST code. */
export function linkInRestWords(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (error.code === 'svc_invalid_url')
    return invalidParam('url', error.message.replace(/^url /, '').replace(/\.$/, ''));
  if (error.code === 'svc_client_not_found') {
    return new ServiceError('svc_rest_invalid_client_id', error.message, {
      field: 'client_id',
      advice: 'Find the id with GET /v2/clients.',
    });
  }
  if (error.code !== 'svc_tag_not_found') return error;
  const unknown = Array.isArray(error.data.tag_ids) ? error.data.tag_ids.join(', ') : '';
  return invalidParam('groupids', `names tags that do not exist: ${unknown}`);
}

const LOGIN_NAMES: Readonly<Record<string, string>> = { admin_password: 'adminpassword', unique_id: 'uniqueid' };

/** The parameter to correct has a name of its own in this interface. */
function loginRefused(error: ServiceError): ServiceError {
  const { code, message, field = '', advice, data } = error;
  const name = ownMember(LOGIN_NAMES, field);
  if (name === undefined) return error;
  const more = advice === undefined ? {} : { advice: advice.replaceAll(field, name) };
  return new ServiceError(code, message, { field: name, ...more, data, cause: error });
}

function uniqueIdNeeded(error: ServiceError): ServiceError {
  return new ServiceError('svc_rest_unique_id_required', error.message, {
    field: 'uniqueid',
    advice: "Send uniqueid, as shown in the child plugin's settings on the site.",
    cause: error,
  });
}
