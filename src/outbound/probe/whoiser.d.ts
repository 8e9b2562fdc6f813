/** The parser alone: whoiser's own lookups follow any host that an answer names, without limits. */
declare module 'whoiser/src/parsers.js' {
  export function parseDomainWhois(domain: string, whois: string, ignorePrivacy: boolean): Record<string, unknown>;
}
