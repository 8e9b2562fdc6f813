/** What tells a client how to log in: `WWW-Authenticate` (RFC 6750) and protected-resource metadata (RFC 9728). */

import type { ServiceError } from '../core/errors.js';

export interface MetadataRules {
  /** Authorization server; null where only API keys and logins are known. */
  issuer: string | null;
  read_scope: string;
  write_scope: string;
  /** Ask browsers for a login, too. */
  basic_challenge: boolean;
}

const DOCUMENT = '/.well-known/oauth-protected-resource';

/** The document of `/mcp` stands below the path of the resource; many clients look at the root first. */
export const WELL_KNOWN = [`${DOCUMENT}/mcp`, DOCUMENT] as const;

/** Undefined where there is no authorization server: without one there is nothing to discover. */
export function metadataOf(rules: MetadataRules, baseUrl: string): Record<string, unknown> | undefined {
  if (rules.issuer === null) return undefined;
  return {
    resource: `${baseUrl}/mcp`,
    resource_name: 'Sitefleet',
    authorization_servers: [rules.issuer],
    scopes_supported: [rules.read_scope, rules.write_scope],
    bearer_methods_supported: ['header'],
  };
}

/** Values of `WWW-Authenticate` for a refusal; none for one that no other credentials would help. */
export function challenges(error: ServiceError, rules: MetadataRules, baseUrl: string, sentAny: boolean): string[] {
  const scope = error.data.needed_scope;
  if (error.status === 403 && typeof scope === 'string')
    return [bearer(rules, baseUrl, scope, 'insufficient_scope', error.message)];
  if (error.status !== 401) return [];
  const problem = sentAny && rules.issuer !== null ? 'invalid_token' : undefined;
  const challenge = bearer(rules, baseUrl, rules.read_scope, problem, error.message);
  return rules.basic_challenge ? [challenge, 'Basic realm="svc", charset="UTF-8"'] : [challenge];
}

function bearer(
  rules: MetadataRules,
  baseUrl: string,
  scope: string,
  error: string | undefined,
  description: string,
): string {
  const parts: [string, string][] = [['realm', 'svc']];
  if (error !== undefined) parts.push(['error', error], ['error_description', description]);
  if (rules.issuer !== null) parts.push(['scope', scope], ['resource_metadata', `${baseUrl}${WELL_KNOWN[0]}`]);
  return `Bearer ${parts.map(([name, value]) => `${name}="${quoted(value)}"`).join(', ')}`;
}

/** Only what RFC 6750 allows inside the quotes. */
function quoted(value: string): string {
  return value.replace(/[^\x20-\x21\x23-\x5B\x5D-\x7E]/g, "'");
}
