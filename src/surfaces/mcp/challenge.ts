/** Authentication challenges: `WWW-Authenticate` (RFC 6750) and protected-resource metadata (RFC 9728). */

import type { ServiceError } from '../../runtime/errors.js';

export interface MetadataRules {
  /** Authorization server; null when only API keys and logins are accepted. */
  issuer: string | null;
  read_scope: string;
  write_scope: string;
  /** Challenge with Basic as well, so that browsers ask for a login. */
  basic_challenge: boolean;
}

const DOCUMENT = '/.well-known/oauth-protected-resource';

/** RFC 9728 puts the document of `/mcp` at its own path; many clients request the root one first. */
export const WELL_KNOWN = [`${DOCUMENT}/mcp`, DOCUMENT] as const;

/** The metadata document; undefined without an authorization server, as there is nothing to discover. */
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

/** Values of `WWW-Authenticate` for an error; none when other credentials would not help. */
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

/** Replaces the characters that RFC 6750 does not allow inside the quotes. */
function quoted(value: string): string {
  return value.replace(/[^\x20-\x21\x23-\x5B\x5D-\x7E]/g, "'");
}
