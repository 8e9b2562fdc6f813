/**
 * The server card: what programs may know of this server before they connect. By SEP-2127 (final) and the format of its
 * extension as of 2026-07-24; it names no tools, which only a login is shown.
 */

import { isIP } from 'node:net';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import type { MetadataRules } from './challenge.js';
import type { McpCore } from './core.js';

/** The reserved place, and the one that many programs still try. */
export const CARD_PATHS = ['/mcp/server-card', '/.well-known/mcp/server-card.json'] as const;
export const CARD_TYPE = 'application/mcp-server-card+json';

/** Browsers of any page may read it, and what they need to ask again. */
export const CARD_CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET',
  'Access-Control-Allow-Headers': 'Content-Type, If-None-Match',
  'Access-Control-Expose-Headers': 'ETag',
} as const;

const MODERN = '2026-07-28';

/** The card. @param baseUrl public address, without a trailing slash */
export function serverCard({ title, version }: McpCore['info'], { issuer }: MetadataRules, baseUrl: string) {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: `${namespaceOf(new URL(baseUrl).hostname)}/sitefleet`,
    title,
    description: 'Manages a fleet of WordPress sites that run MainWP Child.',
    version,
    remotes: [
      {
        type: 'streamable-http',
        url: `${baseUrl}/mcp`,
        supportedProtocolVersions: [MODERN, ...SUPPORTED_PROTOCOL_VERSIONS],
        headers: [
          {
            name: 'Authorization',
            description: `Bearer and an API key, or Basic and a login${issuer === null ? '' : '; not needed with OAuth'}.`,
            isRequired: issuer === null,
            isSecret: true,
          },
        ],
      },
    ],
  };
}

/** The host in the order of reversed domains: each installation is a server of its own. */
function namespaceOf(host: string): string {
  if (host.startsWith('[')) return 'localhost';
  return isIP(host) === 0 ? host.split('.').reverse().join('.') : host;
}
