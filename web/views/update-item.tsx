/** What an update of one item would do on its sites, before anything is done. */

import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { PackageCheck } from '../parts/icons.js';
import { Loaded } from '../parts/states.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { startRun } from './starting-run.js';
import { useUpdateSettings } from './update-settings.js';

export const TYPES = ['core', 'plugin', 'theme', 'translation'] as const;
type Type = (typeof TYPES)[number];

/** The kinds as updates are requested by them. */
export const REST_TYPE = { core: 'wp', plugin: 'plugins', theme: 'themes', translation: 'translations' } as const;
const LISTED = 100;

/** Asks for confirmation, unless the settings say not to, and goes to the page of the run. */
export function Preview({
  type,
  slug,
  name,
  left,
  asks,
  close,
}: {
  type: Type;
  slug: string;
  name: string;
  /** Sites without it. */
  left: readonly number[];
  /** Whether a person is asked first. */
  asks: boolean;
  close: () => void;
}) {
  const { route, url } = useLocation();
  const body = { type: [REST_TYPE[type]], slug: [slug], ...(left.length === 0 ? {} : { exclude: [...left] }) };
  const plan = useLoad(`plan:${JSON.stringify(body)}`, (signal) =>
    answer(api.POST('/updates/update', { body: { ...body, dry_run: true }, signal })),
  );
  const total = plan.data?.would_affect?.total ?? 0;
  // What becomes of it has a page of its own.
  const go = () =>
    startRun((run_id) => answer(api.POST('/updates/update', { body: { ...body, run_id } })), { route, back: url });
  useEffect(() => {
    if (!asks) go();
  }, []);
  return (
    <Dialog
      wide
      title={t.updates.previewTitle(name)}
      onClose={close}
      actions={
        asks ? (
          <>
            <Button onClick={close}>{t.cancel}</Button>
            <Button kind="main" icon={PackageCheck} disabled={total === 0} onClick={go}>
              {t.sites.updateCount(number(total))}
            </Button>
          </>
        ) : (
          <Button kind="main" onClick={close}>
            {t.close}
          </Button>
        )
      }
    >
      <Loaded of={plan}>
        {({ would_affect, would_update = [], errors }) => (
          <>
            <p>{t.sites.preview(number(total), number(would_affect?.sites ?? 0))}</p>
            <ul class="lines">
              {would_update.slice(0, LISTED).map(({ site_id, site_name, current_version, new_version }) => (
                <li key={site_id}>
                  {site_name} <span class="versions">{t.updates.versions(current_version, new_version)}</span>
                </li>
              ))}
            </ul>
            {total > LISTED && <p class="muted">{t.now.more(number(total - LISTED))}</p>}
            {(errors ?? []).map(({ message }, index) => (
              <p key={index} class="problem">
                {message}
              </p>
            ))}
            <p class="note">{t.sites.guardNote}</p>
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

/** Updates an item on all sites on which its update is available: how many that are, is on the button. */
export function UpdateItem({ type, slug }: { type: Type; slug: string }) {
  const [asking, setAsking] = useState(false);
  const write = useMayWrite();
  const settings = useUpdateSettings();
  const offered = useLoad(`updates:item:${type}:${slug}`, (signal) => {
    // WordPress itself is the only item of its kind.
    const query = { type: [type], per_page: 100, ...(type === 'core' ? {} : { search: slug }) };
    return answer(api.GET('/fleet/updates', { params: { query }, signal })).then(
      ({ data }) => data.find((one) => type === 'core' || one.slug === slug) ?? null,
    );
  });
  const item = offered.data;
  if (item === undefined) return null;
  if (item === null) return <span class="muted small">{t.updates.none}</span>;
  if (!write) return <span class="muted small">{t.updates.onSites(item.sites)}</span>;
  return (
    <>
      <Button
        small
        kind="main"
        icon={PackageCheck}
        label={`${t.updates.chosen(number(item.sites))}: ${item.name}`}
        onClick={() => setAsking(true)}
      >
        {t.updates.chosen(number(item.sites))}
      </Button>
      {asking && (
        <Preview
          type={type}
          slug={item.slug}
          name={item.name}
          left={[]}
          asks={settings.asks(item.sites)}
          close={() => setAsking(false)}
        />
      )}
    </>
  );
}
