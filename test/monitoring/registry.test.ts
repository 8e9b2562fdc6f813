/** RDAP and WHOIS against local servers that behave like real registries, good and bad. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createProbe, type ProbeOptions } from '../../src/outbound/probe/create.js';
import type { Probe } from '../../src/outbound/probe/probe.js';
import { whoisDate } from '../../src/outbound/probe/whois-answer.js';
import { restApp } from '../rest/client.js';
import { bareSite } from '../support/bare-site.js';
import { closing } from '../support/cleanup.js';
import { START } from '../support/harness.js';
import { httpServer, whoisServer } from './servers.js';

const never = new AbortController().signal;

/** An answer like those of the .com registry. */
function rdapRecord(name: string, change: Record<string, unknown> = {}) {
  return {
    objectClassName: 'domain',
    handle: '2336799_DOMAIN_COM-VRSN',
    ldhName: name.toUpperCase(),
    links: [{ value: `https://rdap.example/domain/${name}`, rel: 'self', href: `https://rdap.example/domain/${name}` }],
    status: ['client delete prohibited', 'client transfer prohibited'],
    entities: [
      {
        objectClassName: 'entity',
        handle: '376',
        roles: ['registrar'],
        links: [{ href: 'http://www.registrar.example', type: 'text/html', rel: 'about' }],
        publicIds: [{ type: 'IANA Registrar ID', identifier: '376' }],
        vcardArray: [
          'vcard',
          [
            ['version', {}, 'text', '4.0'],
            ['fn', {}, 'text', 'Registrar\u202e & Sons'],
          ],
        ],
        entities: [{ objectClassName: 'entity', roles: ['abuse'] }],
      },
    ],
    events: [
      { eventAction: 'registration', eventDate: '1995-08-14T04:00:00Z' },
      { eventAction: 'expiration', eventDate: '2027-08-13T04:00:00Z' },
      { eventAction: 'last changed', eventDate: '2026-08-14T07:01:38Z' },
      { eventAction: 'last update of RDAP database', eventDate: '2026-11-20T10:00:00Z' },
    ],
    secureDNS: { delegationSigned: true },
    nameservers: [
      { objectClassName: 'nameserver', ldhName: 'A.IANA-SERVERS.NET' },
      { objectClassName: 'nameserver', ldhName: 'B.IANA-SERVERS.NET' },
    ],
    ...change,
  };
}

/** A WHOIS answer of the .fr registry. */
const AFNIC = `%%
%% This is the AFNIC Whois server.
%%
%% Access to this service is rate limited: too many requests are refused.
%%

domain:                        maison.fr
status:                        ACTIVE
eppstatus:                     active
hold:                          NO
holder-c:                      ANO00-FRNIC
registrar:                     OVH
Expiry Date:                   2027-03-05T12:18:07Z
created:                       1998-02-05T23:00:00Z
last-update:                   2026-03-05T12:20:31.123456Z
source:                        FRNIC

nserver:                       dns1.maison.fr
nserver:                       dns2.maison.fr
source:                        FRNIC

registrar:                     OVH
address:                       2 Rue Kellermann
website:                       https://www.ovhcloud.com/
source:                        FRNIC
`;
const NOMINET = `
    Domain name:
        example.co.uk

    Data validation:
        Nominet was able to match the registrant's name and address

    Registrar:
        Some Registrar Ltd [Tag = SOME]
        URL: https://www.some.example

    Relevant dates:
        Registered on: 26-Nov-1996
        Expiry date:  26-Nov-2028
        Last updated:  12-Nov-2026

    Registration status:
        Registered until expiry date.

    Name servers:
        ns1.some.example
        ns2.some.example

This WHOIS information is provided for free. Queries exceeding the limit are blocked.
`;

let asked: string[];
let reply: (request: IncomingMessage, answer: ServerResponse) => void;
let whoisAnswers: Record<string, string>;
const rdapPort = await httpServer((request, answer) => {
  asked.push(request.url ?? '');
  reply(request, answer);
});
const whoisPort = await whoisServer((question) => {
  asked.push(`whois ${question}`);
  return whoisAnswers[question] ?? 'No match for domain.\r\n';
});

function registry(change: Partial<ProbeOptions> = {}): Probe {
  const probe = createProbe({
    allowPrivate: true,
    references: [],
    rdapBootstrapUrl: `http://127.0.0.1:${rdapPort}/dns.json`,
    whoisRoot: `127.0.0.1:${whoisPort}`,
    registryGapMs: 0,
    registryTimeoutMs: 60_000,
    ...change,
  });
  return closing(probe);
}

function json(answer: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  answer.writeHead(status, { 'content-type': 'application/rdap+json', ...headers });
  answer.end(typeof body === 'string' ? body : JSON.stringify(body));
}

const bootstrap = {
  version: '1.0',
  publication: '2026-11-18T20:00:02Z',
  services: [
    [['com', 'net'], [`http://127.0.0.1:${rdapPort}/com/`]],
    [['org'], [`http://localhost:${rdapPort}/org`]],
    [['broken'], ['not a url']],
  ],
};

beforeEach(() => {
  asked = [];
  whoisAnswers = {
    fr: `domain:       FR\n\nwhois:        127.0.0.1:${whoisPort}\n\nstatus:       ACTIVE\n`,
    uk: `domain:       UK\nrefer:        127.0.0.1:${whoisPort}\n`,
    org: `domain:       ORG\nwhois:        127.0.0.1:${whoisPort}\n`,
    com: `domain:       COM\nwhois:        127.0.0.1:${whoisPort}\n`,
    nowhere: 'domain:       NOWHERE\nstatus:       ACTIVE\n',
    'maison.fr': AFNIC,
    'example.co.uk': NOMINET,
  };
  reply = (request, answer) => {
    if (request.url === '/dns.json') json(answer, 200, bootstrap);
    else json(answer, 200, rdapRecord(request.url?.split('/').at(-1) ?? ''));
  };
});

/** Serves the bootstrap file; `rest` answers all other requests. */
function rdapSays(rest: (answer: ServerResponse, request: IncomingMessage) => void): void {
  reply = (request, answer) => (request.url === '/dns.json' ? json(answer, 200, bootstrap) : rest(answer, request));
}

describe('RDAP', () => {
  it('reads a record, and the list of servers once', async () => {
    const probe = registry();
    const answer = await probe.domain('example.com', never);
    expect(answer).toEqual({
      outcome: 'found',
      source: 'rdap',
      facts: {
        domain_name: 'example.com',
        registrar: 'Registrar & Sons',
        registrar_url: 'http://www.registrar.example/',
        registrar_iana_id: '376',
        creation_date: Date.UTC(1995, 7, 14, 4),
        updated_date: Date.UTC(2026, 7, 14, 7, 1, 38),
        expiry_date: Date.UTC(2027, 7, 13, 4),
        domain_status: ['client delete prohibited', 'client transfer prohibited'],
        name_servers: ['a.iana-servers.net', 'b.iana-servers.net'],
      },
    });
    await Promise.all(['a.net', 'b.org'].map((name) => probe.domain(name, never)));
    expect(asked.filter((path) => path === '/dns.json')).toHaveLength(1);
    expect(asked).toContain('/org/domain/b.org');
  });

  it('follows the registry to where it sends us', async () => {
    rdapSays((answer, request) =>
      request.url?.startsWith('/com/') === true
        ? answer.writeHead(302, { location: `/elsewhere/domain/example.com` }).end()
        : json(answer, 200, rdapRecord('example.com')),
    );
    expect(await registry().domain('example.com', never)).toMatchObject({ outcome: 'found' });
  });

  it('says that a domain is not registered', async () => {
    rdapSays((answer) => json(answer, 404, { errorCode: 404, title: 'Not Found' }));
    expect(await registry().domain('free.com', never)).toMatchObject({ outcome: 'not_found', source: 'rdap' });
  });

  it('stops asking a registry that limits us, and asks the others', async () => {
    let limited = true;
    rdapSays((answer, request) => {
      if (request.url?.startsWith('/com/') === true && limited) json(answer, 429, '', { 'retry-after': '120' });
      else json(answer, 200, rdapRecord(request.url?.split('/').at(-1) ?? ''));
    });
    const probe = registry();
    const first = await probe.domain('one.com', never);
    expect(first).toMatchObject({ outcome: 'rate_limited', retryAfterMs: 120_000 });
    limited = false;
    const second = await probe.domain('two.com', never);
    expect(second.outcome).toBe('rate_limited');
    expect(asked.filter((path) => path.startsWith('/com/'))).toEqual(['/com/domain/one.com']);
    expect(await probe.domain('one.org', never)).toMatchObject({ outcome: 'found' });
    // A rate limit of the registry is not bypassed over WHOIS.
    expect(asked.filter((each) => each.startsWith('whois'))).toEqual([]);
  });

  it.each([
    ['no JSON', '<html>Sorry</html>'],
    ['JSON cut short', '{"objectClassName":"domain","ldhName":"EXAM'],
    ['a list', []],
    ['an entity', { objectClassName: 'entity', handle: 'X' }],
    ['another domain', rdapRecord('other.com')],
    ['nothing at all', { objectClassName: 'domain' }],
  ])('does not take %s for a record', async (_, body) => {
    rdapSays((answer) => json(answer, 200, body));
    whoisAnswers = {};
    const answer = await registry({ whoisRoot: '127.0.0.1:9' }).domain('example.com', never);
    expect(answer.outcome).toBe('failed');
  });

  describe('on a machine in another zone than UTC', () => {
    const zone = process.env.TZ;
    beforeAll(() => {
      process.env.TZ = 'Asia/Kolkata';
      expect(new Date(0).getHours()).toBe(5);
    });
    afterAll(() => {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    });

    it.each([
      ['2027-08-13T04:00:00', Date.UTC(2027, 7, 13, 4)],
      ['2027-08-13 04:00:00', Date.UTC(2027, 7, 13, 4)],
      ['2027-08-13', Date.UTC(2027, 7, 13)],
      ['13-Aug-2027', Date.UTC(2027, 7, 13)],
      ['2027-08-13T04:00:00.123Z', Date.UTC(2027, 7, 13, 4, 0, 0, 123)],
      ['2027-08-13T04:00:00-04:30', Date.UTC(2027, 7, 13, 8, 30)],
    ])('a date of a registry is UTC unless it says otherwise: %s', async (eventDate, expected) => {
      const events = [{ eventAction: 'expiration', eventDate }];
      rdapSays((answer) => json(answer, 200, rdapRecord('example.com', { events })));
      expect(await registry().domain('example.com', never)).toMatchObject({ facts: { expiry_date: expected } });
    });

    it.each([
      ['as all write it', (at: Date) => at.toUTCString()],
      // 'Fri, 13 Aug 2027 04:00:00 GMT' as C's asctime() writes it, which HTTP allows: 'Fri Aug 13 04:00:00 2027'.
      [
        'without a zone',
        (at: Date) => at.toUTCString().replace(/^(\w+), (\d+) (\w+) (\d+) (\S+) GMT$/, '$1 $3 $2 $5 $4'),
      ],
    ])('so is the moment until which it limits us, %s', async (_, text) => {
      const moment = new Date(Date.now() + 1_800_000);
      rdapSays((answer) => json(answer, 429, '', { 'retry-after': text(moment) }));
      const reply = await registry().domain('one.com', never);
      expect(reply.outcome).toBe('rate_limited');
      const { retryAfterMs } = reply as { retryAfterMs: number };
      expect(Math.abs(retryAfterMs - 1_800_000)).toBeLessThan(60_000);
    });
  });

  it('survives fields of other types', async () => {
    const strange = {
      status: 'active',
      events: [null, { eventAction: 5, eventDate: {} }, { eventAction: 'expiration', eventDate: 'soon' }],
      entities: [
        null,
        'x',
        { roles: 'registrar' },
        { roles: ['registrar'], vcardArray: 'x', publicIds: {}, links: null },
      ],
      nameservers: [null, {}, { ldhName: 7 }],
    };
    rdapSays((answer) => json(answer, 200, rdapRecord('example.com', strange)));
    expect(await registry().domain('example.com', never)).toMatchObject({
      outcome: 'found',
      facts: { registrar: null, expiry_date: null, domain_status: [], name_servers: ['7'] },
    });
  });

  it('asks by WHOIS where the registry fails', async () => {
    rdapSays((answer) => json(answer, 500, 'oops'));
    whoisAnswers['example.org'] =
      'Domain Name: example.org\r\nRegistry Expiry Date: 2027-08-30T04:00:00Z\r\nCreation Date: 1995-08-31T04:00:00Z\r\nRegistrar: ICANN\r\nRegistrar IANA ID: 376\r\nDomain Status: clientTransferProhibited https://icann.org/epp#clientTransferProhibited\r\nName Server: A.IANA-SERVERS.NET\r\n';
    expect(await registry().domain('example.org', never)).toMatchObject({
      outcome: 'found',
      source: 'whois',
      facts: {
        expiry_date: Date.UTC(2027, 7, 30, 4),
        registrar: 'ICANN',
        domain_status: ['clientTransferProhibited'],
        name_servers: ['a.iana-servers.net'],
      },
    });
  });

  it('goes on with WHOIS when the list of servers cannot be had', async () => {
    reply = (_, answer) => json(answer, 503, 'maintenance');
    expect(await registry().domain('maison.fr', never)).toMatchObject({ outcome: 'found', source: 'whois' });
  });
});

describe('WHOIS', () => {
  it('reads the registry of .fr', async () => {
    expect(await registry().domain('maison.fr', never)).toMatchObject({
      outcome: 'found',
      source: 'whois',
      facts: {
        registrar: expect.stringContaining('OVH'),
        creation_date: Date.UTC(1998, 1, 5, 23),
        expiry_date: Date.UTC(2027, 2, 5, 12, 18, 7),
        name_servers: ['dns1.maison.fr', 'dns2.maison.fr'],
      },
    });
  });

  it('reads the registry of .uk', async () => {
    expect(await registry().domain('example.co.uk', never)).toMatchObject({
      outcome: 'found',
      facts: {
        registrar: expect.stringContaining('Some Registrar Ltd'),
        creation_date: Date.UTC(1996, 10, 26),
        expiry_date: Date.UTC(2028, 10, 26),
        name_servers: ['ns1.some.example', 'ns2.some.example'],
      },
    });
  });

  it('knows who has no server, and remembers', async () => {
    const probe = registry();
    for (const name of ['a.nowhere', 'b.nowhere'])
      expect(await probe.domain(name, never)).toMatchObject({ outcome: 'unsupported' });
    expect(asked.filter((each) => each === 'whois nowhere')).toHaveLength(1);
  });

  it('says that a domain is not registered', async () => {
    expect(await registry().domain('frei.fr', never)).toMatchObject({ outcome: 'not_found', source: 'whois' });
  });

  it('hears that it is limited', async () => {
    whoisAnswers['viel.fr'] = '%% Too many requests...\r\n';
    const probe = registry();
    expect(await probe.domain('viel.fr', never)).toMatchObject({ outcome: 'rate_limited' });
    expect(await probe.domain('maison.fr', never)).toMatchObject({ outcome: 'rate_limited' });
  });

  it.each([
    ['', 'failed'],
    ['\u0000\u0001\u0002', 'failed'],
    ['Domain: other.fr\ncreated: 2001-01-01\nExpiry Date: 2030-01-01\n', 'failed'],
    ['nic-hdl: X\ncontact: Y\n\nnic-hdl: Z\n', 'failed'],
    ['x'.repeat(70_000), 'failed'],
  ])('does not take %j for a record', async (text, outcome) => {
    whoisAnswers['kaputt.fr'] = text;
    expect((await registry().domain('kaputt.fr', never)).outcome).toBe(outcome);
  });

  it('follows no referral to another host', async () => {
    whoisAnswers['weiter.fr'] = `${AFNIC.replace('maison.fr', 'weiter.fr')}\nRegistrar WHOIS Server: 169.254.169.254\n`;
    const hosts: string[] = [];
    const probe = registry({
      lookup: async (host) => {
        hosts.push(host);
        return [{ address: '127.0.0.1', family: 4 }];
      },
    });
    expect(await probe.domain('weiter.fr', never)).toMatchObject({ outcome: 'found' });
    expect(hosts).toEqual([]);
    expect(asked).toEqual(['/dns.json', 'whois fr', 'whois weiter.fr']);
  });

  it('calls no private address unless it may', async () => {
    const answer = await registry({ allowPrivate: false }).domain('maison.fr', never);
    expect(answer.outcome).toBe('failed');
    expect(asked).toEqual([]);
  });
});

describe('dates of WHOIS', () => {
  it.each([
    ['2027-08-13T04:00:00Z', Date.UTC(2027, 7, 13, 4)],
    ['2027-08-13 04:05:06', Date.UTC(2027, 7, 13, 4, 5, 6)],
    ['2027/08/13', Date.UTC(2027, 7, 13)],
    ['2027.08.13 12:00:00', Date.UTC(2027, 7, 13, 12)],
    ['2027. 08. 13.', Date.UTC(2027, 7, 13)],
    ['13.08.2027', Date.UTC(2027, 7, 13)],
    ['13/08/2027 23:59:59', Date.UTC(2027, 7, 13, 23, 59, 59)],
    ['13-Aug-2027', Date.UTC(2027, 7, 13)],
    ['13 August 2027', Date.UTC(2027, 7, 13)],
    ['Fri Aug 13 2027', Date.UTC(2027, 7, 13)],
    ['20270813', Date.UTC(2027, 7, 13)],
    ['20270813 #12345', Date.UTC(2027, 7, 13)],
    ['31-Feb-2027', null],
    ['before Aug-1996', null],
    ['never', null],
    [undefined, null],
  ])('%s', (text, expected) => {
    expect(whoisDate(text)).toBe(expected);
  });
});

it('a check over REST asks the registry of the domain, and stores what it says', async () => {
  const app = await restApp({ sites: 1, probe: registry() });
  const added = async (url: string) => (await app.service.store.sites.add(bareSite(url), START, () => [])) ?? 0;
  const shop = await added('https://shop.example.com/');
  const maison = await added('https://www.maison.fr/');
  const checked = await app.rest(`POST /domain-monitor/${shop}`);
  expect([checked.status, checked.body]).toMatchObject([
    200,
    { success: 1, message: 'The domain is valid.', site: { id: shop } },
  ]);
  const day = 86_400_000;
  expect(checked.body.data).toEqual({
    id: shop,
    url: 'https://shop.example.com/',
    name: expect.any(String),
    domain_name: 'example.com',
    registrar: 'Registrar & Sons',
    registrar_url: 'http://www.registrar.example/',
    registrar_iana_id: '376',
    creation_date: '1995-08-14T04:00:00Z',
    updated_date: '2026-08-14T07:01:38Z',
    expiry_date: '2027-08-13T04:00:00Z',
    expires: Math.floor((Date.UTC(2027, 7, 13, 4) - START) / day),
    status: 'valid',
    status_label: 'Valid',
    domain_status: ['client delete prohibited', 'client transfer prohibited'],
    name_servers: ['a.iana-servers.net', 'b.iana-servers.net'],
    last_check: new Date(START).toISOString().replace('.000Z', 'Z'),
    source: 'rdap',
    error: null,
  });
  expect(asked).toEqual(['/dns.json', '/com/domain/example.com']);
  expect((await app.rest(`GET /domain-monitor/profiles/${shop}`)).body.data).toEqual(checked.body.data);
  const byWhois = await app.rest(`POST /domain-monitor/${maison}`);
  expect(byWhois.body.data).toMatchObject({
    domain_name: 'maison.fr',
    registrar: 'OVH',
    source: 'whois',
    status: 'valid',
  });
  const { body } = await app.rest('GET /domain-monitor/profiles?status=valid');
  expect([body.total, body.data[shop]]).toEqual([2, checked.body.data]);
});
