/** Backups of the fleet: which sites have none, what failed, what was proven, and how often sites are backed up. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { useLiveRefresh } from '../api/live.js';
import { refresh, useLoad } from '../api/load.js';
import type { paths } from '../api/schema.js';
import { useMayWrite } from '../api/session.js';
import { Badge } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { distinctNames } from '../parts/distinct.js';
import { SelectField } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { CalendarClock, CircleDashed, DatabaseBackup, OctagonX } from '../parts/icons.js';
import { Card, Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { pageIn, pageOf, useQuery } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { Subtabs } from '../parts/subtabs.js';
import { Table } from '../parts/table.js';
import { number, Time } from '../parts/time.js';
import { showToast } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { Trial } from './site-backups.js';

const PER_PAGE = 50;
const LACKS = ['any', 'recent', 'success', 'proof'] as const;
const counted = (what: string, count: number | undefined) => (count === undefined ? what : `${what} ${number(count)}`);

export function FleetBackups() {
  const [query, change] = useQuery();
  const page = pageOf(query);
  const lacking = LACKS.find((one) => one === query.lacking);
  const asked = { page, per_page: PER_PAGE, ...(lacking === undefined ? {} : { lacking }) };
  const sites = useLoad(
    `backups:${JSON.stringify(asked)}`,
    (signal) => answer(api.GET('/backups/sites', { params: { query: asked }, signal })),
    { keepShown: true },
  );
  useLiveRefresh(['site', 'alert'], 'backups:', 3000);
  const of = sites.data;
  return (
    <Page title={t.backups.title} about={of && t.backups.about(of.lacking.sites - of.lacking.any, of.lacking.sites)}>
      <Schedule />
      <Subtabs
        label={t.backups.lacking.label}
        at={lacking ?? 'all'}
        tabs={[
          { key: 'all', href: '/backups', word: counted(t.backups.lacking.all, of?.lacking.sites) },
          // A proof is only missed where there could be one.
          ...LACKS.filter((one) => one !== 'proof' || of?.drills === true || lacking === one).map((one) => ({
            key: one,
            href: `/backups?lacking=${one}`,
            word: counted(t.backups.lacking[one], of?.lacking[one]),
          })),
        ]}
      />
      <Loaded of={sites} rows={8}>
        {({ data, total, drills }) =>
          total === 0 ? (
            <Empty icon={DatabaseBackup} title={lacking === undefined ? t.now.noSites : t.sites.nothingFits} />
          ) : (
            <>
              <Table heads={[t.backups.site, t.backups.newest, t.backups.next, ...(drills ? [t.backups.proven] : [])]}>
                <Sites sites={data} drills={drills} />
              </Table>
              <Pager page={page} perPage={PER_PAGE} total={total} go={pageIn(change)} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

type Site = paths['/backups/sites']['get']['responses'][200]['content']['application/json']['data'][number];

function Sites({ sites, drills }: { sites: readonly Site[]; drills: boolean }) {
  const named = sites.map((site) => ({ ...site, url: site.site_url }));
  const nameOf = distinctNames(named);
  return (
    <>
      {named.map((site) => (
        <tr key={site.site_id}>
          <th scope="row">
            <a href={`/sites/${site.site_id}?tab=backups`}>{nameOf(site)}</a>
            <div class="small muted">{t.address(site.url)}</div>
          </th>
          <td data-label={t.backups.newest}>
            <Newest {...site} />
          </td>
          <td data-label={t.backups.next}>{site.next_at === null ? '–' : <Time iso={site.next_at} />}</td>
          {drills && (
            <td data-label={t.backups.proven}>
              <Proof {...site} />
            </td>
          )}
        </tr>
      ))}
    </>
  );
}

function Newest({ newest, failing_since, error, guarded }: Site) {
  return (
    <div>
      <div class="row">
        {newest === null ? (
          <Badge tone="warn" icon={CircleDashed}>
            {t.backups.noBackup}
          </Badge>
        ) : (
          <Time iso={newest.made_at} />
        )}
        {(failing_since !== null || error !== null) && (
          <Badge tone="bad" icon={OctagonX}>
            {t.backups.states.failed}
          </Badge>
        )}
      </div>
      {error !== null && <div class="small muted">{error}</div>}
      {newest === null && guarded !== true && (
        <div class="small muted">{guarded === false ? t.backups.needsGuard : t.backups.guardUnknown}</div>
      )}
    </div>
  );
}

function Proof({ proven_at, drill }: Site) {
  if (drill === null) return <span class="muted">{t.backups.neverTried}</span>;
  return (
    <div>
      <Trial drill={drill} />
      {drill.result !== 'proven' && (
        <div class="small muted">
          {proven_at === null ? (
            t.backups.neverProven
          ) : (
            <>
              {t.backups.lastProven} <Time iso={proven_at} />
            </>
          )}
        </div>
      )}
    </div>
  );
}

type Rule = NonNullable<ReturnType<typeof useRules>['data']>['rules'][number];

function useRules() {
  return useLoad('backups:rules', (signal) =>
    answer(api.GET('/backups', { params: { query: { per_page: 1 } }, signal })).then(({ schedule }) => schedule),
  );
}

/** How often the fleet is backed up, and the exceptions of tags and sites. */
function Schedule() {
  const write = useMayWrite();
  const rules = useRules();
  const [editing, setEditing] = useState<Rule | 'fleet' | null>(null);
  return (
    <Card
      title={t.backups.schedule}
      actions={
        write && (
          <Button small icon={CalendarClock} onClick={() => setEditing('fleet')}>
            {t.backups.setSchedule}
          </Button>
        )
      }
    >
      <Loaded of={rules} rows={1}>
        {(schedule) => (
          <>
            {!schedule.rules.some(isOfFleet) && <p class="muted">{t.backups.noSchedule}</p>}
            <ul class="log">
              {schedule.rules.map((rule) => (
                <li key={`${rule.tag_id}:${rule.site_id}`}>
                  <span>
                    {t.backups.rule(placeOf(rule))} <strong>{t.backups.every[rule.every]}</strong>
                    {rule.every !== 'off' && ` ${t.backups.at(rule.hour)}`}
                  </span>
                  {write && !isOfFleet(rule) && (
                    <span class="under">
                      <Button small label={`${t.edit}: ${placeOf(rule) ?? ''}`} onClick={() => setEditing(rule)}>
                        {t.edit}
                      </Button>
                    </span>
                  )}
                </li>
              ))}
            </ul>
            {schedule.total_rules > schedule.rules.length && (
              <p class="muted small">{t.now.more(number(schedule.total_rules - schedule.rules.length))}</p>
            )}
            {editing !== null && (
              <EditRule
                rule={editing === 'fleet' ? schedule.rules.find(isOfFleet) : editing}
                close={() => setEditing(null)}
              />
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
}

const isOfFleet = ({ tag_id, site_id }: Rule) => tag_id === null && site_id === null;
const placeOf = (rule: Rule) => (isOfFleet(rule) ? null : (rule.name ?? ''));

const EVERY = ['daily', 'weekly', 'monthly', 'off'] as const;
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

function EditRule({ rule, close }: { rule: Rule | undefined; close: () => void }) {
  const [every, setEvery] = useState<(typeof EVERY)[number] | 'inherit'>(rule?.every ?? 'daily');
  const [hour, setHour] = useState(String(rule?.hour ?? 3));
  const place = rule === undefined ? null : placeOf(rule);
  const save = async () => {
    const of =
      rule?.site_id != null ? { site: String(rule.site_id) } : rule?.tag_id != null ? { tag_id: rule.tag_id } : {};
    const { message } = await answer(api.PUT('/backups/schedule', { body: { ...of, every, hour: Number(hour) } }));
    showToast(message);
    refresh('backups:', 'site:');
    close();
  };
  return (
    <Dialog title={t.backups.scheduleOf(place)} onClose={close}>
      <Form onSubmit={save}>
        <SelectField
          name="every"
          label={t.backups.often}
          value={every}
          onChange={(next) => setEvery(([...EVERY, 'inherit'] as const).find((one) => one === next) ?? 'off')}
          options={[
            ...EVERY.map((one) => [one, t.backups.every[one]] as const),
            ...(place === null ? [] : [['inherit', t.backups.every.inherit] as const]),
          ]}
        />
        {every !== 'off' && every !== 'inherit' && (
          <SelectField
            name="hour"
            label={t.backups.hour}
            hint={t.backups.hourHint}
            value={hour}
            onChange={setHour}
            options={HOURS.map((one) => [String(one), t.backups.clock(one)] as const)}
          />
        )}
        <FormEnd send={t.save} cancel={close} />
      </Form>
    </Dialog>
  );
}
