/** Known vulnerabilities of the fleet, worst first, each with the update that ends it. */

import type { ComponentChildren } from 'preact';
import { answer, api } from '../api/client.js';
import { useLiveRefresh } from '../api/live.js';
import { useLoad } from '../api/load.js';
import { Badge } from '../parts/badge.js';
import { SelectField } from '../parts/field.js';
import { ShieldCheck, TriangleAlert } from '../parts/icons.js';
import { Card, Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { pageIn, pageOf, useQuery } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { UpdateItem } from './update-item.js';

const PER_PAGE = 20;
const SEVERITIES = ['critical', 'high', 'medium', 'low', 'none'] as const;

export function Vulnerabilities() {
  const [query, change] = useQuery();
  const page = pageOf(query);
  const severity = SEVERITIES.find((one) => one === query.severity);
  const asked = { page, per_page: PER_PAGE, ...(severity === undefined ? {} : { severity: [severity] }) };
  const found = useLoad(
    `vulnerabilities:${JSON.stringify(asked)}`,
    (signal) => answer(api.GET('/vulnerabilities', { params: { query: asked }, signal })),
    { keepShown: true },
  );
  useLiveRefresh(['updates', 'site'], 'vulnerabilities:', 3000);
  return (
    <Page
      title={t.vulnerabilities.title}
      about={found.data && t.vulnerabilities.count(number(found.data.total), found.data.vulnerable_sites)}
    >
      <search class="filters">
        <SelectField
          hidden
          label={t.vulnerabilities.rating}
          value={severity ?? ''}
          onChange={(next) => change({ severity: next, page: undefined })}
          options={[
            ['', t.vulnerabilities.anyRating],
            ...SEVERITIES.map((one) => [one, t.vulnerabilities.severity[one] ?? one] as const),
          ]}
        />
      </search>
      <Card>
        <Loaded of={found} rows={6}>
          {(data) => (
            <>
              <VulnerabilityList
                {...data}
                act={({ type, slug }) => <UpdateItem type={type} slug={slug} />}
                where={({ sites, first_sites }) => (
                  <>
                    {t.updates.onSites(sites)}:{' '}
                    {first_sites.map((url, index) => (
                      <span key={url}>
                        {index > 0 && ', '}
                        <a href={`/sites?search=${encodeURIComponent(t.address(url))}`}>{t.address(url)}</a>
                      </span>
                    ))}
                    {sites > first_sites.length && ` ${t.now.and(number(sites - first_sites.length))}`}
                  </>
                )}
              />
              <Pager page={page} perPage={PER_PAGE} total={data.total} go={pageIn(change)} />
            </>
          )}
        </Loaded>
      </Card>
    </Page>
  );
}

interface Known {
  severity: string | null;
  type: 'core' | 'plugin' | 'theme';
  slug: string;
  name: string;
  title: string;
  cve: string | null;
  reference: string | null;
  versions: readonly string[];
  fixed_in: string | null;
  sites: number;
  first_sites: readonly string[];
}

interface ListProps {
  data: readonly Known[];
  /** Why the list is incomplete. */
  note: string | null;
  notices: readonly { notice: string }[];
  /** null = nothing is known. */
  vulnerable_sites: number | null;
  act?: (one: Known) => ComponentChildren;
  where?: (one: Known) => ComponentChildren;
}

export function VulnerabilityList({ data, note, notices, vulnerable_sites, act, where }: ListProps) {
  return (
    <>
      {note !== null && <p class="note">{note}</p>}
      {data.length === 0 && vulnerable_sites !== null && <Empty icon={ShieldCheck} title={t.vulnerabilities.none} />}
      <ul class="issues">
        {data.map((one, index) => (
          // One plugin may have several names, and two vulnerabilities one title.
          <li key={index}>
            <SeverityBadge severity={one.severity} />
            <span>
              <strong>{one.name}</strong> {one.versions.join(', ')}: <Title of={one} />{' '}
              <span class="muted">
                {one.cve} {one.fixed_in === null ? t.vulnerabilities.notFixed : t.vulnerabilities.fixedIn(one.fixed_in)}
              </span>
              {where && <span class="where muted small">{where(one)}</span>}
            </span>
            {act && <span class="act">{act(one)}</span>}
          </li>
        ))}
      </ul>
      {notices.map(({ notice }) => (
        <p key={notice} class="small muted">
          {notice}
        </p>
      ))}
    </>
  );
}

function Title({ of: { title, reference } }: { of: Known }) {
  const href = reference === null ? null : t.safeUrl(reference);
  if (href === null) return <>{title}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {title}
    </a>
  );
}

export function SeverityBadge({ severity }: { severity: string | null }) {
  return (
    <Badge tone={severity === 'critical' || severity === 'high' ? 'bad' : 'warn'} icon={TriangleAlert}>
      {severity === null ? t.vulnerabilities.notRated : (t.vulnerabilities.severity[severity] ?? severity)}
    </Badge>
  );
}
