/** What became of each update of a run, in groups, with reasons, evidence and the way back. */

import { useMayWrite } from '../api/session.js';
import { Badge, Protection } from '../parts/badge.js';
import { Card } from '../parts/page.js';
import { isSuspect } from '../parts/suspect.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';
import { RollBack } from './roll-back.js';
import { SiteLink } from './run-matrix.js';
import { type RunItem as Item, nameOf, type State, signOf } from './run-states.js';

const GROUPS = ['trouble', 'suspect', 'rolled_back', 'busy', 'skipped', 'kept'] as const;

const GROUP_OF: Readonly<Record<State, (typeof GROUPS)[number]>> = {
  failed: 'trouble',
  unknown: 'trouble',
  rolled_back: 'rolled_back',
  updating: 'busy',
  checking: 'busy',
  queued: 'busy',
  skipped: 'skipped',
  kept: 'kept',
};

/** Item by item, what needs a person first. */
export function Items({ items }: { items: readonly Item[] }) {
  if (items.length === 0) return <Card>{<p class="muted">{t.runs.nothing}</p>}</Card>;
  return (
    <>
      {GROUPS.map((group) => {
        const own = items.filter((item) => (isSuspect(item) ? 'suspect' : GROUP_OF[item.state]) === group);
        return (
          own.length > 0 && (
            <Card key={group} title={t.runs.groupOf(t.runs.group[group], number(own.length))}>
              <ul class="log run">
                {own.map((item) => (
                  <ItemLine key={`${item.site_id} ${item.type} ${item.slug}`} item={item} items={items} />
                ))}
              </ul>
            </Card>
          )
        );
      })}
    </>
  );
}

function ItemLine({ item, items }: { item: Item; items: readonly Item[] }) {
  const write = useMayWrite();
  const { tone, icon, word } = signOf(item);
  const evidence = (item.evidence ?? []).filter((sentence) => item.message?.startsWith(sentence) !== true);
  const message = item.message === undefined ? undefined : withoutEvidence(item.message, evidence);
  return (
    <li>
      <div class="what">
        <span class="top">
          <SiteLink items={items} site={item.site_id} tab="?tab=updates" />
          <strong>{nameOf(item)}</strong>
          <span class="versions">{t.updates.versions(item.old_version, item.new_version)}</span>
          <Badge tone={tone} icon={icon}>
            {isSuspect(item) ? t.outcome.suspect : item.state === 'kept' ? t.runs.state.kept : word}
          </Badge>
          {(item.type === 'plugin' || item.type === 'theme') && <Protection by={item.protection} />}
        </span>
        {message !== undefined && <span class={tone === 'bad' ? 'problem' : ''}>{message}</span>}
        {evidence.map((sentence) => (
          <q key={sentence} class="seen">
            {sentence}
          </q>
        ))}
      </div>
      {write && item.can_roll_back && (item.type === 'plugin' || item.type === 'theme') && (
        <RollBack
          siteId={item.site_id}
          of={{ change_id: item.change_id }}
          name={nameOf(item)}
          version={item.old_version}
          from={item.new_version}
        />
      )}
    </li>
  );
}

/** The message up to what it quotes: the evidence follows it, each sentence whole, which a long message cuts. */
function withoutEvidence(message: string, evidence: readonly string[]): string {
  const quoted = evidence.map((sentence) => message.indexOf(sentence.slice(0, 40))).filter((at) => at > 0);
  return message.slice(0, Math.min(message.length, ...quoted)).trimEnd();
}
