/** Security of a site, requested from the site itself, and only when the view is opened. */

import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { Badge } from '../parts/badge.js';
import { CheckCircle2, ShieldCheck, TriangleAlert } from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { Empty, Loaded } from '../parts/states.js';
import { t } from '../texts/texts.js';
import type { SiteRecord } from './site.js';
import { VulnerabilityList } from './vulnerabilities.js';

function useChecks(site: SiteRecord) {
  return useLoad(site.status === 'connected' ? `site:${site.id}:security` : null, (signal) =>
    answer(
      api.GET('/sites/{id_or_domain}/security', { params: { path: { id_or_domain: String(site.id) } }, signal }),
    ).then(({ data }) => data),
  );
}

export function Security({ site }: { site: SiteRecord }) {
  const found = useChecks(site);
  return (
    <>
      <Vulnerabilities site={site} />
      {site.status === 'connected' ? <Checks found={found} /> : <p class="muted">{t.security.notAsked}</p>}
    </>
  );
}

/** Known vulnerabilities of the installed versions; without a feed the service says that nothing is known. */
function Vulnerabilities({ site }: { site: SiteRecord }) {
  const found = useLoad(`site:${site.id}:vulnerabilities`, (signal) =>
    answer(
      api.GET('/sites/{id_or_domain}/vulnerabilities', { params: { path: { id_or_domain: String(site.id) } }, signal }),
    ),
  );
  return (
    <Card title={t.vulnerabilities.title}>
      <Loaded of={found}>{(data) => <VulnerabilityList {...data} />}</Loaded>
    </Card>
  );
}

function Checks({ found }: { found: ReturnType<typeof useChecks> }) {
  return (
    <Card title={t.site.tab.security}>
      <Loaded of={found} rows={5}>
        {({ security_issues }) =>
          security_issues.length === 0 ? (
            <Empty icon={ShieldCheck} title={t.security.none} />
          ) : (
            <ul class="issues">
              {security_issues.map(({ type, severity, message }) => (
                <li key={type}>
                  <Badge
                    tone={severity === 'high' ? 'bad' : 'warn'}
                    icon={severity === 'low' ? CheckCircle2 : TriangleAlert}
                  >
                    {t.security.severity[severity as keyof typeof t.security.severity] ?? severity}
                  </Badge>
                  {message}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <p class="small muted">{t.security.about}</p>
    </Card>
  );
}
