/** Security of a site, asked of the site itself, and only when somebody looks. */

import { CheckCircle2, ShieldCheck, TriangleAlert } from 'lucide';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { Badge } from '../parts/badge.js';
import { Card } from '../parts/page.js';
import { Empty, Loaded } from '../parts/states.js';
import { t } from '../texts/texts.js';
import type { SiteRecord } from './site.js';

export function Security({ site }: { site: SiteRecord }) {
  const found = useLoad(site.status === 'connected' ? `site:${site.id}:security` : null, (signal) =>
    answer(
      api.GET('/sites/{id_or_domain}/security', { params: { path: { id_or_domain: String(site.id) } }, signal }),
    ).then(({ data }) => data),
  );
  if (site.status !== 'connected') return <p class="muted">{t.security.notAsked}</p>;
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
