/** Parsers from environment texts to typed values. Each returns the value, or a description of what is allowed. */

import { fileURLToPath } from 'node:url';

/** The value, or a description of what is allowed. */
export type Parsed<T> = { value: T } | { allowed: string };
export type Parser<T> = (text: string) => Parsed<T>;

export function databaseUrl(text: string): Parsed<string> {
  const allowed =
    'file:<path> (with % ? # written %25 %3F %23), :memory:, or a URL starting with libsql://, https://, http://, wss:// or ws://';
  if (text === ':memory:' || (/^file:(?!\/\/[^/])[^?#]+$/.test(text) && decodes(text))) return { value: text };
  if (/^(libsql|https?|wss?):\/\//.test(text) && URL.canParse(text)) return { value: text };
  return { allowed };
}

function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Any text of this form. */
function matching(form: RegExp, allowed: string): Parser<string> {
  return (text) => (form.test(text) ? { value: text } : { allowed });
}

export function anyText(text: string): Parsed<string> {
  return { value: text };
}

export function filePath(text: string): Parsed<string> {
  // A single letter before the colon is a drive.
  return /^[a-z][a-z+.-]+:/i.test(text) ? { allowed: 'the path of a file, not a URL' } : { value: text };
}

export function containerCommand(text: string): Parsed<string[]> {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const run = words.indexOf('run');
  return run < 1 || run === words.length - 1
    ? { allowed: 'a command that runs a container, such as "docker run IMAGE"' }
    : { value: words };
}

export function integer(min: number, max: number): Parser<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? { value } : { allowed: `a whole number from ${min} to ${max}` };
  };
}

export function flag(text: string): Parsed<boolean> {
  const word = text.toLowerCase();
  if (['1', 'true', 'yes', 'on'].includes(word)) return { value: true };
  if (['0', 'false', 'no', 'off'].includes(word)) return { value: false };
  return { allowed: '1 or 0 (also true/false, yes/no, on/off)' };
}

export function oneOf<T extends string>(words: readonly T[]): Parser<T> {
  return (text) => {
    const value = words.find((word) => word === text.toLowerCase());
    return value === undefined ? { allowed: words.join(', ') } : { value };
  };
}

export function subset<T extends string>(words: readonly T[]): Parser<readonly T[]> {
  return (text) => {
    if (text.toLowerCase() === 'none') return { value: [] };
    const asked = text.split(/[\s,]+/).filter((word) => word !== '');
    const known = words.filter((word) => asked.includes(word));
    return known.length === new Set(asked).size
      ? { value: known }
      : { allowed: `a comma list of ${words.join(', ')}, or none` };
  };
}

/** Names of tools; whether they exist is checked where the operations are known. */
export function toolNames(text: string): Parsed<readonly string[]> {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  return names.every((name) => /^(?:svc[/-])?[a-z][a-z0-9-]{1,80}$/.test(name))
    ? { value: [...new Set(names)] }
    : { allowed: 'a comma list of names of tools, such as list-sites or svc-get-site-v1' };
}

/** Origins as browsers write them. */
export function origins(text: string): Parsed<readonly string[]> {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  const plain = parts.map((part) => part.replace(/\/$/, '').toLowerCase());
  const known = plain.every((part) => /^https?:/.test(part) && URL.canParse(part) && new URL(part).origin === part);
  return known
    ? { value: [...new Set(plain)] }
    : {
        allowed:
          'a comma list of origins: scheme, host and port if any, without a path, for example https://app.example',
      };
}

export function hostName(text: string): Parsed<string> {
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  return /^[A-Za-z0-9._:%-]+$/.test(bare)
    ? { value: bare }
    : { allowed: 'a host name or an IP address, without scheme and port' };
}

export function baseUrl(text: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : null;
  const plain = url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash;
  return plain
    ? { value: url.href.replace(/\/+$/, '') }
    : { allowed: 'an http or https URL without login, query and fragment' };
}

/** Kept exactly as written: it is compared with the `iss` of tokens character by character. */
export function issuerUrl(text: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) && !url.search && !url.hash
    ? { value: text }
    : { allowed: 'an http or https URL without query and fragment' };
}

export function httpUrl(text: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) && !url.username
    ? { value: url.href }
    : { allowed: 'an http or https URL without a login' };
}

/** Location of a feed: a URL or a file. */
export function feedLocation(text: string): Parsed<string> {
  if (/^https?:/i.test(text)) return httpUrl(text);
  if (text.startsWith('file://') && URL.canParse(text)) return { value: fileURLToPath(text) };
  return 'value' in filePath(text) ? { value: text } : { allowed: 'an http or https URL without a login, or a file' };
}

/** A bucket by its path, and a prefix below it. */
export function bucketUrl(text: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : null;
  const plain = url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash;
  const path = url?.pathname.replace(/\/+$/, '') ?? '';
  return plain && /^\/[a-z0-9][a-z0-9._-]{1,62}(\/[A-Za-z0-9_-][A-Za-z0-9._-]*){0,5}$/.test(path)
    ? { value: url.origin + path }
    : {
        allowed:
          'an http or https URL of a server and a bucket, with a prefix if any, such as https://s3.example.com/bucket/sites',
      };
}

export const accessKey = matching(/^[\w.+=@-]{3,128}$/, '3 to 128 letters, digits and . _ + = @ -');

export const regionName = matching(/^[A-Za-z0-9-]{1,40}$/, 'the name of a region, such as eu-central-1');

/** Characters allowed in a header token. */
export const headerToken = matching(/^[\x21-\x7E]{8,4096}$/, '8 to 4,096 printable characters without blanks');

/** Login and host of a mail server; the value is never shown. */
export function smtpUrl(text: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== '' && decodes(url.username + url.password)
    ? { value: url.href }
    : {
        allowed:
          'smtp://user:password@host:587 or smtps://user:password@host:465, with @ : / in the login written %40 %3A %2F',
      };
}

export const mailAddress = matching(
  /^(?:[^<>@\p{Cc}]{0,100}<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u,
  'an address such as fleet@example.com or Fleet <fleet@example.com>',
);

/** A token that fits into an Authorization header. */
export const bearerToken = matching(/^[A-Za-z0-9._~+/=-]{16,200}$/, '16 to 200 letters, digits and . _ ~ + / = -');

/** One scope of RFC 6749 §3.3. */
export const scopeToken = matching(
  /^[\x21\x23-\x5B\x5D-\x7E]{1,100}$/,
  '1 to 100 printable characters without blanks, quotes and backslashes',
);

export const secretKey = matching(
  /^(?:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$/,
  '32 bytes as 64 hex digits or as base64',
);

/** A colon would end the name inside a Basic header. */
export const userName = matching(/^[^\s:][^:\p{Cc}]{0,59}$/u, '1 to 60 characters without a colon');

export function password(text: string): Parsed<string> {
  return text.length >= 8 && text.length <= 200 ? { value: text } : { allowed: '8 to 200 characters' };
}
