/** The brief inside an assistant: matters that need attention, each with the call that shows all of its cases. */

import { useState } from 'preact/hooks';
import { Badge } from '../parts/badge.js';
import { CircleCheck, TriangleAlert } from '../parts/icons.js';
import { Answer, type Json, Press, start, type ViewProps } from './frame.js';
import type { Host, ToolResult } from './host.js';
import { say } from './texts.js';

interface Matter {
  matter: string;
  count: number;
  first: string[];
  next: string;
}

interface Brief {
  as_of: string;
  since: string;
  sites: Record<'total' | 'connected' | 'disconnected' | 'suspended', number>;
  needs_attention: Matter[];
  updates_on_offer: Record<'core' | 'plugins' | 'themes' | 'translations', number> & { next: string };
  done: { what: string; count: number; sites: number }[];
  not_known: string[];
}

/** Parses `svc-search-fleet-v1 {"monitor":"down"}`: the name of a tool and its arguments. */
function callOf(next: string): { tool: string; args: Json } | undefined {
  const [, tool, json] = /^([a-z0-9-]+) (\{.*\})$/s.exec(next) ?? [];
  if (tool === undefined || json === undefined) return undefined;
  return { tool, args: JSON.parse(json) as Json };
}

/** A button that shows all cases of a matter below itself. */
function Cases({ next, host }: { next: string; host: Host }) {
  const [result, setResult] = useState<ToolResult>();
  const call = callOf(next);
  if (call === undefined || !host.canCall) return null;
  const toggle = async () => setResult(result === undefined ? await host.call(call.tool, call.args) : undefined);
  return (
    <>
      <Press onPress={toggle}>{result === undefined ? say.show : say.hide}</Press>
      {result !== undefined && <Answer result={result} />}
    </>
  );
}

function View({ answer, host, again }: ViewProps<Brief>) {
  const { sites, needs_attention: matters, updates_on_offer: offers, done, not_known: unknown } = answer;
  const at = new Date(answer.as_of).toLocaleString(host.context.locale, { timeStyle: 'short', dateStyle: 'medium' });
  return (
    <main class="app">
      <header>
        <h1>{say.brief.title}</h1>
        <span class="muted">{at}</span>
        {host.canCall && <Press onPress={() => again()}>{say.refresh}</Press>}
      </header>
      <p>
        {say.brief.sites(sites.total, sites.connected)}
        {sites.disconnected > 0 && <>, {say.brief.disconnected(sites.disconnected)}</>}
        {sites.suspended > 0 && <>, {say.brief.suspended(sites.suspended)}</>}
      </p>
      {matters.length === 0 && (
        <p>
          <Badge tone="good" icon={CircleCheck}>
            {say.brief.fine}
          </Badge>
        </p>
      )}
      {matters.map(({ matter, count, first, next }) => (
        <section class="card" key={matter}>
          <header>
            <h2>{matter}</h2>
            <Badge tone="bad" icon={TriangleAlert}>
              {String(count)}
            </Badge>
          </header>
          <ul>
            {first.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          <Cases next={next} host={host} />
        </section>
      ))}
      <section class="card">
        <h2>{say.brief.offers}</h2>
        <p class="figures">
          {(['core', 'plugins', 'themes', 'translations'] as const).map((kind) => (
            <span key={kind}>
              <b>{offers[kind]}</b> {kind}
            </span>
          ))}
        </p>
        <Cases next={offers.next} host={host} />
      </section>
      {done.length > 0 && (
        <section class="card">
          <h2>{say.brief.done}</h2>
          <ul>
            {done.map(({ what, count, sites: on }) => (
              <li key={what}>
                {what} <span class="muted">{say.brief.times(count, on)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {unknown.length > 0 && (
        <p class="muted">
          {say.brief.unknown}: {unknown.join('; ')}.
        </p>
      )}
      {!host.canCall && <p class="muted">{say.noCalls}</p>}
    </main>
  );
}

start<Brief>({
  name: 'sitefleet-brief',
  tool: 'svc-get-fleet-brief-v1',
  read: (output) => (Array.isArray(output.needs_attention) ? (output as unknown as Brief) : undefined),
  View,
});
