/**
 * Overview of a site: its software, certificate and domain, client, tags and note, and the protection of its updates.
 */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { MonitorState } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { Confirm, Dialog } from '../parts/dialog.js';
import { Check, TextField, useText } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { Pencil, Trash2 } from '../parts/icons.js';
import { OwnerField, TagChecks } from '../parts/owners.js';
import { Card } from '../parts/page.js';
import { Saved } from '../parts/saved.js';
import { Loaded } from '../parts/states.js';
import { Strip } from '../parts/strip.js';
import { Time } from '../parts/time.js';
import { showToast, trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { GuidanceCard } from './guidance.js';
import type { SiteRecord } from './site.js';
import { GuardCard } from './site-guard.js';

export function Overview({ site }: { site: SiteRecord }) {
  return (
    <div class="columns">
      <div>
        <Card title={t.site.system}>
          <Facts
            rows={[
              [t.sites.column.wp, site.wp_version],
              [t.sites.column.php, site.php_version],
              [t.sites.column.child, site.child_version],
              [t.site.database, site.mysql_version],
              [t.site.memory, site.memory_limit],
              [t.site.theme, site.active_theme],
              [t.site.language, site.language],
              [t.site.health, site.health_score === null ? null : `${site.health_score} %`],
              [t.site.admin, site.admin_username],
              [
                t.site.lastBackup,
                <Time key="backup" iso={site.last_backup.made_at} otherwise={t.site.backupUnknown} />,
              ],
              [t.site.lastSync, <Time key="sync" iso={site.last_sync} otherwise={t.never} />],
            ]}
          />
          {site.sync_errors !== '' && <p class="problem">{site.sync_errors}</p>}
        </Card>
        <GuardCard id={site.id} />
        <GuidanceCard of={{ site: site.id }} />
      </div>
      <div>
        <Monitor id={site.id} />
        <Ends id={site.id} />
        <Owner site={site} />
        <Record site={site} />
      </div>
    </div>
  );
}

type Value = string | number | null | undefined | preact.JSX.Element;

/** Values that are not known are shown as unknown. */
export function Facts({ rows }: { rows: readonly (readonly [string, Value])[] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value === null || value === undefined || value === '' ? <span class="muted">{t.unknown}</span> : value}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** What its monitor found, in short. */
export function useMonitor(id: number) {
  return useLoad(`site:${id}:monitor`, (signal) =>
    answer(
      api.GET('/monitors/{id_or_domain}', {
        params: {
          path: { id_or_domain: String(id) },
          query: {
            _fields: [
              'name',
              'last_status',
              'active',
              'uptime_24h',
              'uptime_ratio_30d',
              'last_check_at',
              'response_time_avg_ms',
            ],
          },
        },
        signal,
      }),
    ).then(({ data }) => data),
  );
}

function Monitor({ id }: { id: number }) {
  const monitor = useMonitor(id);
  return (
    <Card title={t.site.tab.uptime} actions={<a href={`/sites/${id}?tab=uptime`}>{t.now.open}</a>}>
      <Loaded of={monitor}>
        {(data) =>
          data.active === 0 ? (
            <p class="muted">{t.monitors.off}</p>
          ) : (
            <>
              <p class="under">
                <MonitorState state={data.last_status} />
                <span class="muted">
                  <Time iso={data.last_check_at} otherwise={t.never} />
                </span>
              </p>
              <Strip hours={data.uptime_24h} name={data.name} />
              <p class="small muted">{t.monitors.month(t.percent(data.uptime_ratio_30d))}</p>
            </>
          )
        }
      </Loaded>
    </Card>
  );
}

/** Expiry of certificate and domain. Both are modules, which can be switched off. */
function Ends({ id }: { id: number }) {
  const at = { params: { path: { id_or_domain: String(id) } } };
  const certificate = useLoad(`site:${id}:certificate`, (signal) =>
    answer(api.GET('/ssl-monitor/info/{id_or_domain}', { ...at, signal })).then(({ data }) => data),
  );
  const domain = useLoad(`site:${id}:domain`, (signal) =>
    answer(api.GET('/domain-monitor/profiles/{id_or_domain}', { ...at, signal })).then(({ data }) => data),
  );
  return (
    <Card title={t.site.ends}>
      <Facts
        rows={[
          [
            t.sites.column.certificate,
            certificate.data?.valid_to == null ? (
              (certificate.data?.error ?? null)
            ) : (
              <Time key="certificate" day iso={certificate.data.valid_to} />
            ),
          ],
          [t.site.issuer, certificate.data?.issuer_o],
          [
            t.sites.column.domain,
            domain.data?.expiry_date == null ? (
              (domain.data?.error ?? null)
            ) : (
              <Time key="domain" day iso={String(domain.data.expiry_date)} />
            ),
          ],
          [t.site.registrar, domain.data?.registrar],
        ]}
      />
    </Card>
  );
}

function Owner({ site }: { site: SiteRecord }) {
  const [editing, setEditing] = useState(false);
  const write = useMayWrite();
  const tags = site.tag_list ?? [];
  return (
    <Card
      title={t.site.owner}
      actions={
        write && (
          <Button small icon={Pencil} onClick={() => setEditing(true)}>
            {t.edit}
          </Button>
        )
      }
    >
      <Facts
        rows={[
          [
            t.sites.column.client,
            site.client_id === null ? (
              <span class="muted">{t.site.noClient}</span>
            ) : (
              <a href={`/clients?id=${site.client_id}`}>{site.client_name}</a>
            ),
          ],
          [
            t.sites.column.tags,
            tags.length === 0 ? (
              <span class="muted">{t.site.noTags}</span>
            ) : (
              <span class="tags">
                {tags.map(({ id, name }) => (
                  <a key={id} class="tag" href={`/sites?tag_ids=${id}`}>
                    {name}
                  </a>
                ))}
              </span>
            ),
          ],
          [
            t.site.note,
            site.note === '' ? <span class="muted">{t.site.noNote}</span> : <span class="prose">{site.note}</span>,
          ],
        ]}
      />
      {editing && <OwnerDialog site={site} close={() => setEditing(false)} />}
    </Card>
  );
}

/** Its address, which may change, and its removal. */
function Record({ site }: { site: SiteRecord }) {
  const { route } = useLocation();
  const [asking, setAsking] = useState<'address' | 'remove' | null>(null);
  const url = useText(site.url);
  const write = useMayWrite();
  if (!write) return null;
  const at = { params: { path: { id_or_domain: String(site.id) } } };
  const move = async () => {
    const { message } = await answer(
      api.POST('/sites/{id_or_domain}/edit', { ...at, body: { url: url.value.trim() } }),
    );
    setAsking(null);
    showToast(message);
    refresh(`site:${site.id}:`, 'sites:', 'now:');
  };
  const setAutomatic = async (on: boolean) => {
    const saved = await trying(async () => {
      const body = { automatic_update: on ? (1 as const) : (0 as const) };
      return (await answer(api.POST('/sites/{id_or_domain}/edit', { ...at, body }))).message;
    });
    refresh(`site:${site.id}:`, 'policy:');
    return saved;
  };
  const remove = () =>
    trying(async () => {
      const { message } = await answer(api.DELETE('/sites/{id_or_domain}/remove', at));
      refresh('sites:', 'now:', 'monitors:');
      route('/sites');
      return message;
    });
  return (
    <Card title={t.site.record}>
      <p>{t.address(site.url)}</p>
      <Saved value={site.automatic_update === 1} save={setAutomatic}>
        {(on, choose) => <Check label={t.site.automatic} checked={on} onChange={choose} />}
      </Saved>
      <div class="row">
        <Button small icon={Pencil} onClick={() => setAsking('address')}>
          {t.site.editAddress}
        </Button>
        <Button small kind="danger" icon={Trash2} onClick={() => setAsking('remove')}>
          {t.site.remove}
        </Button>
      </div>
      {asking === 'address' && (
        <Dialog title={t.site.editAddress} onClose={() => setAsking(null)}>
          <Form onSubmit={move}>
            <TextField label={t.site.newAddress} name="url" hint={t.site.newAddressHint} {...url} required />
            <FormEnd send={t.save} cancel={() => setAsking(null)} />
          </Form>
        </Dialog>
      )}
      {asking === 'remove' && (
        <Confirm
          title={t.site.removeTitle(site.name)}
          text={t.site.removeText}
          word={t.site.remove}
          onConfirm={remove}
          onClose={() => setAsking(null)}
        />
      )}
    </Card>
  );
}

function OwnerDialog({ site, close }: { site: SiteRecord; close: () => void }) {
  const [client, setClient] = useState(site.client_id === null ? '' : String(site.client_id));
  const [tags, setTags] = useState<ReadonlySet<number>>(new Set((site.tag_list ?? []).map(({ id }) => id)));
  const [note, setNote] = useState(site.note);
  const save = async () => {
    const worked = await trying(async () => {
      const body = { client_id: client === '' ? 0 : Number(client), groupids: [...tags], note };
      return (
        await answer(
          api.POST('/sites/{id_or_domain}/edit', { params: { path: { id_or_domain: String(site.id) } }, body }),
        )
      ).message;
    });
    if (!worked) return;
    close();
    refresh(`site:${site.id}:`, 'sites:');
  };
  return (
    <Dialog
      title={t.site.owner}
      onClose={close}
      confirm={
        <Button kind="main" onClick={save}>
          {t.save}
        </Button>
      }
    >
      <OwnerField
        kind="clients"
        label={t.sites.column.client}
        any={t.site.noClient}
        value={client}
        onChange={setClient}
      />
      <TagChecks chosen={tags} onChange={setTags} />
      <label class="field">
        <span>{t.site.note}</span>
        <textarea rows={4} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
    </Dialog>
  );
}
