/** The parser alone: whoiser's own lookups follow whatever host an answer names, without limits. */
declare module 'whoiser/src/parsers.js' {
  export function parseDomainWhois(domain: string, whois: string, ignorePrivacy: boolean): Record<string, unknown>;
}
