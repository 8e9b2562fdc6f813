/**
 * Updates of one site: available updates and their protection, updating, and the steps of each update as they happen.
 */

import { useEffect, useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Level, Outcome, Protection } from '../parts/badge.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Check } from '../parts/field.js';
import { CircleCheckBig, PackageCheck } from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { Empty, Loaded, Loading } from '../parts/states.js';
import { number, span, Time } from '../parts/time.js';
import { showFailure } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import type { Matter } from './matters.js';
import { type Offer, offersOf } from './offers.js';
import { RollBack } from './roll-back.js';
import { runAddress } from './run-address.js';
import { type SiteRecord, useTroubles } from './site.js';
import { protectionOf, useStory } from './site-guard.js';
import { useUpdateSettings } from './update-settings.js';

/** Polling interval while an update runs: its steps are stored before they are taken. */
const WATCH_MS = 700;

export function SiteUpdates({ site }: { site: SiteRecord }) {
  const offers = useLoad(`site:${site.id}:updates`, (signal) =>
    answer(api.GET('/updates/{id_or_domain}', { params: { path: { id_or_domain: String(site.id) } }, signal })).then(
      ({ data }) => offersOf(data[String(site.id)] ?? {}),
    ),
  );
  const story = useStory(site.id);
  const troubles = useTroubles(String(site.id));
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [asking, setAsking] = useState<readonly Offer[] | null>(null);
  const [running, setRunning] = useState(false);
  const [outcomes, setOutcomes] = useState<Outcomes | null>(null);
  const write = useMayWrite();
  const settings = useUpdateSettings();
  const open = running || (story.data?.data ?? []).some(({ outcome }) => outcome === null);

  useEffect(() => {
    if (!open) return;
    const timer = setInterval(() => refresh(`site:${site.id}:story`), WATCH_MS);
    return () => clearInterval(timer);
  }, [open, site.id]);

  const update = async (items: readonly Offer[]) => {
    setAsking(null);
    setRunning(true);
    setOutcomes(null);
    try {
      const { data, errors } = await answer(
        api.POST('/sites/{id_or_domain}/safe-update', {
          params: { path: { id_or_domain: String(site.id) } },
          body: {
            slug: items.map(({ slug }) => slug),
            types: [...new Set(items.map(({ group }) => group))],
            least_protection: 'none',
          },
        }),
      );
      const { updated, suspects, notices, run_id: run } = data;
      setOutcomes({ updated, suspects, errors: errors ?? [], notices, run });
    } catch (error) {
      showFailure(error);
    }
    setRunning(false);
    setChosen(new Set());
    refresh(`site:${site.id}:`, 'now:', 'sites:', 'updates:');
  };

  const ask = (items: readonly Offer[]) => (settings.asks(items.length) ? setAsking(items) : void update(items));

  return (
    <div class="columns wide-first">
      <Card
        title={t.updates.onOffer}
        actions={
          write &&
          !(settings.hidesAll && chosen.size === 0) && (
            <Button
              kind="main"
              small
              icon={PackageCheck}
              disabled={(offers.data?.length ?? 0) === 0 || running || site.status !== 'connected'}
              busy={running}
              onClick={() => ask((offers.data ?? []).filter((one) => chosen.size === 0 || chosen.has(one.key)))}
            >
              {chosen.size === 0 ? t.updates.all : t.updates.chosen(number(chosen.size))}
            </Button>
          )
        }
      >
        <Loaded of={offers}>
          {(list) =>
            list.length === 0 ? (
              <Empty icon={CircleCheckBig} title={t.updates.none}>
                <p>
                  {t.now.lastSync} <Time iso={site.last_sync} otherwise={t.never} />
                </p>
              </Empty>
            ) : (
              <ul class="offers">
                {list.map((one) => (
                  <li key={one.key}>
                    {write ? (
                      <Check
                        label={one.name}
                        checked={chosen.has(one.key)}
                        onChange={(on) =>
                          setChosen(
                            (before) =>
                              new Set(on ? [...before, one.key] : [...before].filter((key) => key !== one.key)),
                          )
                        }
                      />
                    ) : (
                      <span>{one.name}</span>
                    )}
                    <span class="muted">{t.updateKind[one.type]}</span>
                    <span class="versions">
                      {t.updates.versions(one.current, one.next)}
                      {one.fixes.length > 0 && (
                        <span class="fixing">
                          {t.updates.fixes} {one.fixes.join(', ')}
                        </span>
                      )}
                    </span>
                    <Level level={one.level} />
                    <Protection
                      by={
                        one.type === 'plugin' || one.type === 'theme'
                          ? protectionOf(story.data?.guard.installed ?? null)
                          : 'none'
                      }
                    />
                    {write && site.status === 'connected' && (
                      <Button small disabled={running} onClick={() => ask([one])} label={t.updates.one(one.name)}>
                        {t.sites.update}
                      </Button>
                    )}
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </Card>
      <div>
        {outcomes !== null && <Results outcomes={outcomes} story={story.data?.data ?? []} />}
        <Card title={t.updates.story}>
          {running && story.data?.data.length === 0 && <Loading />}
          <Loaded of={story}>
            {({ data }) =>
              data.length === 0 ? (
                <p class="muted">{running ? t.updates.checking : t.updates.noStory}</p>
              ) : (
                <ol class="story">
                  {running && data.every(({ outcome }) => outcome !== null) && (
                    <li class="open">{t.updates.checking}</li>
                  )}
                  {data.map((change) => (
                    <StoryLine
                      key={change.change_id}
                      change={change}
                      siteId={site.id}
                      write={write}
                      suspected={isSuspect(change, troubles.data?.matters)}
                    />
                  ))}
                </ol>
              )
            }
          </Loaded>
        </Card>
      </div>
      {asking !== null && (
        <Ask offers={asking} site={site} close={() => setAsking(null)} go={() => void update(asking)} />
      )}
    </div>
  );
}

interface Outcomes {
  updated: readonly { slug: string; name: string; old_version: string; new_version: string }[];
  suspects: readonly { slug: string; findings: readonly string[] }[];
  errors: readonly { slug?: string; code: string; message: string; change_id?: string }[];
  notices: readonly string[];
  run: string | undefined;
}

/** The result of the call: counts, what may be wrong, notices, and the errors that the stored updates do not contain. */
function Results({ outcomes, story }: { outcomes: Outcomes; story: readonly Change[] }) {
  const unlisted = outcomes.errors.filter(({ change_id }) => !story.some((one) => one.change_id === change_id));
  const rescued = outcomes.errors.flatMap(({ code, change_id }) => {
    const change = story.find((one) => one.change_id === change_id);
    if (code !== 'svc_update_rolled_back' || change === undefined) return [];
    const { name, new_version, well_after_ms } = change;
    return [{ what: `${name} ${new_version}`, time: well_after_ms === null ? null : span(well_after_ms) }];
  });
  return (
    <div class={outcomes.errors.length + outcomes.suspects.length === 0 ? 'note good' : 'note'} role="status">
      <div>
        <p>{t.updates.resultText(outcomes.updated.length, rescued, outcomes.errors.length - rescued.length)}</p>
        {outcomes.suspects.map(({ slug, findings }) => (
          <p key={slug}>
            <strong>{t.updates.needsLook(outcomes.updated.find((one) => one.slug === slug)?.name ?? slug)}</strong>{' '}
            {findings.join(' ')}
          </p>
        ))}
        {unlisted.map(({ slug, code, message }) => (
          <p key={`${slug} ${code}`} class="problem">
            {message}
          </p>
        ))}
        {outcomes.notices.map((notice) => (
          <p key={notice} class="small">
            {notice}
          </p>
        ))}
        {outcomes.run !== undefined && <a href={runAddress(outcomes.run)}>{t.runs.open}</a>}
      </div>
    </div>
  );
}

type Change = NonNullable<ReturnType<typeof useStory>['data']>['data'][number];

/** Whether it is what was updated last before the site went down. */
function isSuspect({ slug, new_version }: Change, matters: readonly Matter[] = []): boolean {
  return matters.some(({ cases }) =>
    cases.some(({ suspect }) => suspect?.slug === slug && suspect.new_version === new_version),
  );
}

const STEPS = ['snapshot', 'arm', 'update', 'probe'] as const;

interface StoryProps {
  change: Change;
  siteId: number;
  write: boolean;
  /** The site went down within the hour after it. */
  suspected: boolean;
}

function StoryLine({ change, siteId, write, suspected }: StoryProps) {
  const { outcome, step, protection } = change;
  const suspect = suspected || change.suspect.length > 0;
  const steps = protection === 'guard' ? STEPS : STEPS.slice(2);
  const at = (steps as readonly string[]).indexOf(step);
  return (
    <li class={suspect && outcome === 'kept' ? 'suspect' : (outcome ?? 'open')}>
      <div class="top">
        <strong>{change.name}</strong>
        <span class="versions">{t.updates.versions(change.old_version, change.new_version)}</span>
        <Outcome outcome={outcome} suspect={suspect} />
      </div>
      {outcome === null ? (
        <ol class="steps" aria-label={t.updates.steps}>
          {steps.map((one, index) => (
            <li
              key={one}
              class={at === -1 || index < at ? 'done' : index === at ? 'current' : ''}
              aria-current={index === at ? 'step' : undefined}
            >
              {t.step[one]}
            </li>
          ))}
          {(step === 'restore' || step === 'disarm') && (
            <li class="current" aria-current="step">
              {t.step[step]}
            </li>
          )}
        </ol>
      ) : (
        <p class="muted small">
          <Time iso={change.settled_at ?? change.started_at} />
          {outcome === 'rolled_back' && change.well_after_ms !== null && (
            <> · {t.updates.healthyAfter(span(change.well_after_ms))}</>
          )}
          {outcome === 'rolled_back' && change.put_back_by !== null && <> · {t.updates.by[change.put_back_by]}</>}
        </p>
      )}
      {change.seen.map((sentence) => (
        <p key={sentence} class="seen">
          {sentence}
        </p>
      ))}
      {change.suspect.map((sentence) => (
        <p key={sentence} class="note">
          {sentence}
        </p>
      ))}
      {write &&
        (outcome === 'kept' || outcome === 'broken') &&
        protection !== 'none' &&
        (change.type === 'plugin' || change.type === 'theme') && (
          <RollBack
            siteId={siteId}
            of={{ change_id: change.change_id }}
            name={change.name}
            version={change.old_version}
            from={change.new_version}
          />
        )}
    </li>
  );
}

/** The plan of the update as the service reports it, shown for confirmation before anything is done. */
function Ask({
  offers,
  site,
  close,
  go,
}: {
  offers: readonly Offer[];
  site: SiteRecord;
  close: () => void;
  go: () => void;
}) {
  const slugs = offers.map(({ slug }) => slug);
  const plan = useLoad(`plan:${site.id}:${slugs.join()}`, (signal) =>
    answer(
      api.POST('/sites/{id_or_domain}/safe-update', {
        params: { path: { id_or_domain: String(site.id) } },
        body: {
          slug: slugs,
          types: [...new Set(offers.map(({ group }) => group))],
          least_protection: 'none',
          dry_run: true,
        },
        signal,
      }),
    ),
  );
  const planned = plan.data?.data.planned ?? [];
  return (
    <Dialog
      wide
      title={t.updates.askTitle(site.name)}
      onClose={close}
      confirm={
        <Button kind="main" icon={PackageCheck} disabled={planned.length === 0} onClick={go}>
          {t.sites.updateCount(number(planned.length))}
        </Button>
      }
    >
      <Loaded of={plan}>
        {({ data, errors }) => (
          <>
            <ul class="lines">
              {data.planned.map(({ type, slug, name, old_version, new_version, protection }) => (
                <li key={`${type} ${slug}`}>
                  <strong>{name}</strong> <span class="versions">{t.updates.versions(old_version, new_version)}</span>{' '}
                  <Protection by={protection} />
                </li>
              ))}
            </ul>
            {(errors ?? []).map(({ slug, message }) => (
              <p key={`${slug} ${message}`} class="problem">
                {message}
              </p>
            ))}
            {data.notices.map((notice) => (
              <p key={notice} class="note">
                {notice}
              </p>
            ))}
            <p class="small muted">{t.updates.promise}</p>
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
