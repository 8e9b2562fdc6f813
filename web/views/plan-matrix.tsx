/** The matrix of the plan of updates: sites by items, coloured by risk, with a tick for each. */

import type { paths } from '../api/schema.js';
import { useMayWrite } from '../api/session.js';
import { useStore } from '../api/store.js';
import { Badge } from '../parts/badge.js';
import { Check } from '../parts/field.js';
import { Icon } from '../parts/icon.js';
import { OctagonX, ShieldAlert, ShieldOff } from '../parts/icons.js';
import { t } from '../texts/texts.js';
import { type Choice, choice, keyOf, type LeftItem, setItem, setSite } from './plan-choice.js';

export type Plan = paths['/fleet/updates/plan']['get']['responses'][200]['content']['application/json'];
type PlanItem = Plan['items'][number];
type PlanSite = Plan['data'][number];
type PlanCell = PlanSite['cells'][number];

export function Legend() {
  return (
    <ul class="legend small muted" aria-label={t.plan.legend}>
      {(['fine', 'major', 'danger', 'bare', 'held'] as const).map((risk) => (
        <li key={risk}>
          <span class={`swatch risk-${risk}`} aria-hidden="true" /> {t.plan.risk[risk]}
        </li>
      ))}
    </ul>
  );
}

const itemOf = ({ type, slug, name }: PlanItem): LeftItem => ({ type, slug, name });

export function Matrix({ plan: { items, data } }: { plan: Plan }) {
  const write = useMayWrite();
  const left = useStore(choice);
  return (
    <div class="scroll">
      <table class="matrix plan">
        <thead>
          <tr>
            <th scope="col">{t.sites.column.name}</th>
            {items.map((item) => (
              <th key={keyOf(item)} scope="col">
                {write ? (
                  <Check
                    label={item.name}
                    checked={!left.items.has(keyOf(item)) && item.sites > 0}
                    disabled={item.sites === 0}
                    onChange={(on) => setItem(itemOf(item), on)}
                  />
                ) : (
                  <span>{item.name}</span>
                )}
                <span class="small muted">
                  {t.plan.head(
                    item.type === 'plugin' || item.type === 'core' ? null : t.updateKind[item.type],
                    item.level === null ? null : t.level[item.level],
                    t.updates.onSites(item.sites),
                  )}
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {data.map((site) => (
            <Row key={site.site_id} site={site} items={items} left={left} write={write} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RowProps {
  site: PlanSite;
  items: readonly PlanItem[];
  left: Choice;
  write: boolean;
}

function Row({ site, items, left, write }: RowProps) {
  const { site_id, site_name, site_url, cells } = site;
  const at = new Map(cells.map((cell) => [cell.item, cell]));
  const usable = site.obstacle === null && cells.some(({ quarantined, needs }) => !quarantined && needs === null);
  const chosen = usable && !left.sites.has(site_id);
  return (
    <tr>
      <th scope="row">
        <span class="site">
          {write && (
            <Check
              hidden
              label={t.plan.site(site_name)}
              checked={chosen}
              disabled={!usable}
              onChange={(on) => setSite(site_id, site_name, on)}
            />
          )}
          <a href={`/sites/${site_id}?tab=updates`}>{site_name}</a>
          {site.down && (
            <Badge tone="bad" icon={OctagonX}>
              {t.monitor.down}
            </Badge>
          )}
          {site.guarded !== true && (
            <span class="unguarded" title={t.protection.none}>
              <Icon of={ShieldOff} />
              <span class="unseen">{t.protection.none}</span>
            </span>
          )}
        </span>
        {site.namesake && <span class="address">{t.address(site_url)}</span>}
        {site.obstacle !== null && <span class="obstacle small muted">{site.obstacle}</span>}
      </th>
      {items.map((item, index) => {
        const cell = at.get(index);
        return (
          <td key={keyOf(item)}>
            {cell && <Cell site={site} item={item} cell={cell} left={left} write={write} rowOn={chosen} />}
          </td>
        );
      })}
    </tr>
  );
}

/** The worst that may come of an update; `held`: it is not applied. */
function riskOf({ obstacle, down, guarded }: PlanSite, { type }: PlanItem, cell: PlanCell) {
  if (cell.quarantined || cell.needs !== null || obstacle !== null) return 'held';
  if (cell.quarantined_elsewhere || down) return 'danger';
  if (cell.level === 'major') return 'major';
  return guarded !== true && (type === 'plugin' || type === 'theme') ? 'bare' : 'fine';
}

interface CellProps {
  site: PlanSite;
  item: PlanItem;
  cell: PlanCell;
  left: Choice;
  write: boolean;
  /** The site is ticked. */
  rowOn: boolean;
}

function Cell({ site, item, cell, left, write, rowOn }: CellProps) {
  const risk = riskOf(site, item, cell);
  const own = { ...itemOf(item), site_id: site.site_id };
  const open = risk !== 'held' && rowOn && !left.items.has(keyOf(item));
  const on = open && !left.items.has(keyOf(own));
  const guardable = item.type === 'plugin' || item.type === 'theme';
  const risks = [
    ...(cell.quarantined ? [t.plan.risk.held] : []),
    ...(cell.needs === null ? [] : [t.plan.needs(cell.needs)]),
    ...(cell.quarantined_elsewhere ? [t.plan.elsewhere] : []),
    ...(cell.level === 'major' ? [t.plan.risk.major] : []),
    ...(guardable && site.guarded !== true ? [t.plan.risk.bare] : []),
  ];
  const said = [t.now.change(item.name, cell.current_version, cell.new_version), ...risks].join(', ');
  const bare = guardable && site.guarded !== true && risk !== 'held' ? 'bare' : '';
  const marked = (
    <>
      <span class="version" aria-hidden="true">
        {cell.new_version}
      </span>
      {(cell.quarantined || cell.quarantined_elsewhere) && <Icon of={ShieldAlert} />}
    </>
  );
  const look = `planned risk-${risk} ${bare}${on || !write ? '' : ' off'}`;
  if (!write)
    return (
      <span class={look} title={said}>
        {marked}
        <span class="unseen">{said}</span>
      </span>
    );
  return (
    <label class={look} title={said}>
      <input
        type="checkbox"
        aria-label={`${site.site_name}: ${said}`}
        checked={on}
        disabled={!open}
        onChange={(event) => setItem(own, event.currentTarget.checked)}
      />
      {marked}
    </label>
  );
}
