/** Report segments that have figures only (REST §6.8.2). */

import { z } from '../../../../schemas/zod.js';
import { always, known, listed, maybe, type ReportedValue, type SegmentShape, watched } from './report-values.js';

function figuresOnly(figures: Record<string, ReportedValue>): SegmentShape {
  return { sections: {}, byAction: false, figures };
}

export function domainShape(): SegmentShape {
  return figuresOnly({
    name: maybe('domain.name', 'Domain', 'text'),
    registrar: maybe('domain.registrar', 'Registrar', 'text'),
    creation: maybe('domain.creation', 'Registered on', 'date'),
    updated: maybe('domain.updated', 'Updated on', 'date'),
    expiry: maybe('domain.expiry', 'Registered until', 'date'),
    expires: maybe('domain.expires', 'Days left, negative once expired', 'integer'),
    status: watched('domain.status', 'Status', z.string()),
    last_check: maybe('domain.last.check', 'Last check', 'moment'),
  });
}

export function certificateShape(): SegmentShape {
  const status = z.enum(['valid', 'expiring', 'expired', 'invalid', 'unknown']);
  return figuresOnly({
    name: maybe('ssl.name', 'Certificate', 'text'),
    issuer: maybe('ssl.issuer', 'Issuer', 'text'),
    valid_from: maybe('ssl.valid.from', 'Valid from', 'date'),
    valid_to: maybe('ssl.valid.to', 'Valid to', 'date'),
    expires: maybe('ssl.expires', 'Days left, negative once expired', 'integer'),
    status: watched('ssl.status', 'Status', status),
    last_check: maybe('ssl.last.check', 'Last check', 'moment'),
  });
}

export function auditShape(): SegmentShape {
  const item = () => z.object({ title: z.string(), display_value: z.string() });
  const ofScreen = (screen: string) => ({
    [`performance_${screen}`]: maybe(`perf.performance.${screen}`, 'Performance, 0 to 100', 'integer'),
    [`accessibility_${screen}`]: maybe(`perf.accessibility.${screen}`, 'Accessibility, 0 to 100', 'integer'),
    [`bestpractices_${screen}`]: maybe(`perf.bestpractices.${screen}`, 'Best practices, 0 to 100', 'integer'),
    [`seo_${screen}`]: maybe(`perf.seo.${screen}`, 'SEO, 0 to 100', 'integer'),
    [`audits_${screen}`]: listed(`perf.audits.${screen}`, 'What to improve', item()),
    [`lastcheck_${screen}`]: maybe(`perf.lastcheck.${screen}`, 'Last audit in the range', 'moment'),
    [`chart_${screen}`]: maybe(`perf.chart.${screen}`, 'Performance over time', 'chart'),
  });
  return figuresOnly({ ...ofScreen('desktop'), ...ofScreen('mobile') });
}

export function websiteShape(): SegmentShape {
  const item = () => z.object({ name: z.string(), version: z.string(), active: z.enum(['active', 'inactive']) });
  return figuresOnly({
    site_version: maybe('site.version', 'WordPress', 'text'),
    site_theme: maybe('site.theme', 'Active theme with its version', 'text'),
    site_php: maybe('site.php', 'PHP', 'text'),
    site_mysql: maybe('site.mysql', 'Database', 'text'),
    site_health: maybe('site.health', 'Health score, 0 to 100', 'integer'),
    last_sync: maybe('site.last.sync', 'Last sync', 'moment'),
    installed_plugins: listed('installed.plugins', 'Installed plugins', item()),
    installed_themes: listed('installed.themes', 'Installed themes', item()),
  });
}

export function miscShape(): SegmentShape {
  const text = (token: string, title: string) => always(token, title, z.string());
  return figuresOnly({
    report_daterange: text('report.daterange', 'Range'),
    report_send_date: known('report.send.date', 'Created on', 'date'),
    client_site_name: text('client.site.name', 'Site name'),
    client_site_url: text('client.site.url', 'Site URL'),
    client_name: text('client.name', 'Client, "" without one'),
    client_company: text('client.company', 'Company'),
    client_contact_name: text('client.contact.name', 'Contact'),
    client_email: text('client.email', 'E-mail'),
    client_phone: text('client.phone', 'Phone'),
    client_address_1: text('client.contact.address.1', 'Address'),
    client_address_2: text('client.contact.address.2', 'Address, second line'),
    client_city: text('client.city', 'City'),
    client_state: text('client.state', 'State'),
    client_zip: text('client.zip', 'ZIP'),
  });
}
