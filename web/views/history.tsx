/** The history of the fleet: who changed what on which site, with what takes it back. */

import { answer, api } from '../api/client.js';
import { useLiveRefresh } from '../api/live.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Button } from '../parts/button.js';
import { SearchField, SelectField } from '../parts/field.js';
import { FilterBar } from '../parts/filter-bar.js';
import { History as HistoryIcon, Undo2 } from '../parts/icons.js';
import { Card, Page } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { pageIn, pageOf, useQuery, useTyped } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { number, Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { RollBack } from './roll-back.js';
import { UndoChange } from './undo-change.js';

const PER_PAGE = 50;
const DAYS = [1, 7, 30, 90, 365] as const;
const VIAS = ['site', 'rest', 'mcp', 'run', 'cli', 'jobs'] as const;
const RESULTS = ['done', 'failed'] as const;

export function History() {
  const [query, change] = useQuery();
  const page = pageOf(query);
  const days = DAYS.find((one) => String(one) === query.days) ?? 30;
  const via = VIAS.find((one) => one === query.via);
  const result = RESULTS.find((one) => one === query.result);
  const filter = (members: Record<string, string | undefined>) => change({ ...members, page: undefined });
  const [item, setItem] = useTyped(query.item ?? '', (next) => change({ item: next, page: undefined }, true));
  const [by, setBy] = useTyped(query.by ?? '', (next) => change({ by: next, page: undefined }, true));
  const asked = {
    days,
    page,
    per_page: PER_PAGE,
    ...(query.item === undefined ? {} : { item: query.item }),
    ...(query.by === undefined ? {} : { by: query.by }),
    ...(query.kind === undefined ? {} : { kinds: [query.kind] }),
    ...(query.action === undefined ? {} : { actions: [query.action] }),
    ...(via === undefined ? {} : { via: [via] }),
    ...(result === undefined ? {} : { result }),
  };
  const found = useLoad(
    `history:${JSON.stringify(asked)}`,
    (signal) => answer(api.GET('/fleet/changes', { params: { query: asked }, signal })),
    { keepShown: true },
  );
  useLiveRefresh(['site', 'updates', 'job'], 'history:', 3000);
  const chosen = query.kind === undefined ? '' : `${query.kind} ${query.action ?? ''}`;
  const kinds = new Map(
    (found.data?.kinds ?? []).map(({ kind, action, count }) => [
      `${kind} ${action}`,
      `${t.action(kind, action)} (${number(count)})`,
    ]),
  );
  if (chosen !== '' && !kinds.has(chosen)) kinds.set(chosen, t.action(query.kind ?? '', query.action ?? ''));
  return (
    <Page title={t.nav.history} about={found.data && t.history.count(number(found.data.total), days)}>
      <FilterBar
        search={<SearchField label={t.history.item} value={item} onInput={setItem} />}
        set={[query.by, chosen, via, result].filter((one) => one !== undefined && one !== '').length}
      >
        <SearchField label={t.history.by} value={by} onInput={setBy} />
        <SelectField
          hidden
          label={t.history.kind}
          value={chosen}
          onChange={(next) => {
            const [kind, action] = next.split(' ');
            filter({ kind, action });
          }}
          options={[['', t.history.anyKind], ...kinds]}
        />
        <SelectField
          hidden
          label={t.history.via}
          value={via ?? ''}
          onChange={(next) => filter({ via: next })}
          options={[['', t.history.anyVia], ...VIAS.map((one) => [one, t.history.vias[one] ?? one] as const)]}
        />
        <SelectField
          hidden
          label={t.history.result}
          value={result ?? ''}
          onChange={(next) => filter({ result: next })}
          options={[['', t.history.anyResult], ...RESULTS.map((one) => [one, t.history.results[one]] as const)]}
        />
        <SelectField
          hidden
          label={t.history.days}
          value={String(days)}
          onChange={(next) => filter({ days: next })}
          options={DAYS.map((one) => [String(one), t.history.last(one)] as const)}
        />
      </FilterBar>
      <Card>
        <Loaded of={found} rows={8}>
          {({ data, total }) =>
            data.length === 0 ? (
              <Empty icon={HistoryIcon} title={t.activity.none} />
            ) : (
              <>
                <ul class="log history">
                  {data.map((entry) => (
                    <Entry key={entry.id} entry={entry} />
                  ))}
                </ul>
                <Pager page={page} perPage={PER_PAGE} total={total} go={pageIn(change)} />
              </>
            )
          }
        </Loaded>
      </Card>
    </Page>
  );
}

interface Change {
  id: number;
  at: string;
  site_id: number | null;
  site_name: string | null;
  what: string;
  item: string;
  slug?: string;
  old_version: string;
  new_version: string;
  by: string;
  via: string;
  result: 'done' | 'failed';
  action_id: number | null;
  undo: 'roll_back' | 'activate' | 'deactivate' | 'suspend' | 'unsuspend' | null;
}

function Entry({ entry }: { entry: Change }) {
  const write = useMayWrite();
  const { site_id, site_name, what, by, via, at, result, undo, action_id } = entry;
  return (
    <li>
      <div class="what">
        <span class={result === 'failed' ? 'problem' : ''}>{what}</span>
        <span class="muted small">
          {site_id !== null && site_name !== null && (
            <>
              <a href={`/sites/${site_id}?tab=activity`}>{site_name}</a> ·{' '}
            </>
          )}
          {t.who(by) || t.activity.unknownUser} · {t.history.vias[via] ?? via} · <Time iso={at} />
        </span>
      </div>
      {write && site_id !== null && undo !== null && <TakeBack entry={entry} site={site_id} />}
      {write && undo === null && action_id !== null && <UndoChange of={{ change_id: String(action_id) }} what={what} />}
    </li>
  );
}

function TakeBack({ entry, site }: { entry: Change; site: number }) {
  const { id, undo, item, slug = '', old_version, new_version, what } = entry;
  const at = { params: { path: { id_or_domain: String(site) } } };
  const plugin = { ...at, body: { slug: [slug] } };
  switch (undo) {
    case null:
      return null;
    case 'roll_back':
      return (
        <RollBack
          siteId={site}
          of={{ change_id: String(id) }}
          name={item || slug}
          version={old_version}
          from={new_version}
        />
      );
    default: {
      const work = {
        activate: () => answer(api.POST('/sites/{id_or_domain}/plugins/activate', plugin)),
        deactivate: () => answer(api.POST('/sites/{id_or_domain}/plugins/deactivate', plugin)),
        suspend: () => answer(api.POST('/sites/{id_or_domain}/suspend', at)),
        unsuspend: () => answer(api.POST('/sites/{id_or_domain}/unsuspend', at)),
      }[undo];
      const takeBack = () =>
        trying(async () => {
          await work();
          return t.history.undone(what);
        }).then(() => refresh('history:', 'site:', 'sites:', 'now:'));
      return (
        <Button small icon={Undo2} label={`${t.undo}: ${what}`} onClick={takeBack}>
          {t.undo}
        </Button>
      );
    }
  }
}
