/** The plan of updates on many sites inside an assistant: sites by items, with a tick for each item. */

import { Press, type ViewProps } from './frame.js';
import { Matrix, type Placed } from './matrix.js';
import { say } from './texts.js';

interface Planned extends Placed {
  current_version: string;
  new_version: string;
}

export interface FleetPlan {
  dry_run: true;
  would_update: Planned[];
  would_affect: { sites: number; total: number };
  errors: { site_id: number; site_name: string; slug: string; message: string }[];
  confirmation_token?: string;
}

const ERRORS = 8;

export function PlanView({ answer, input, host, again }: ViewProps<FleetPlan>) {
  const { would_update: planned, would_affect: counts, errors, confirmation_token } = answer;
  const left = Array.isArray(input.exclude_slugs) ? input.exclude_slugs.map(String) : [];
  const without = (exclude_slugs: readonly string[]) => again({ dry_run: true, exclude_slugs });
  const token = confirmation_token === undefined ? {} : { confirmation_token };
  return (
    <>
      <p class="headline">{counts.total === 0 ? say.update.nothing : say.run.planned(counts.total, counts.sites)}</p>
      <Matrix
        items={planned}
        head={({ name, slug }) =>
          host.canCall ? (
            <label class="check">
              <input type="checkbox" checked onChange={() => void without([...left, slug])} />
              {name || slug}
            </label>
          ) : (
            name || slug
          )
        }
        cell={({ current_version, new_version }) => (
          <span
            title={`${current_version} → ${new_version}`}
            class={isMajor(current_version, new_version) ? 'major' : ''}
          >
            {new_version}
          </span>
        )}
      />
      {counts.total > planned.length && <p class="muted">{say.more(planned.length, counts.total)}</p>}
      {left.length > 0 && host.canCall && (
        <p class="figures">
          <span class="muted">{say.run.left}</span>
          {left.map((slug) => (
            <Press key={slug} quiet onPress={() => without(left.filter((one) => one !== slug))}>
              {say.run.takeIn(slug)}
            </Press>
          ))}
        </p>
      )}
      {errors.slice(0, ERRORS).map(({ site_id, site_name, slug, message }) => (
        <p class="muted" key={`${site_id} ${slug} ${message}`}>
          {site_name} {message}
        </p>
      ))}
      {errors.length > ERRORS && <p class="muted">{say.more(ERRORS, errors.length)}</p>}
      {counts.total > 0 && host.canCall && (
        <Press sure={say.run.sure(counts.sites)} onPress={() => again({ dry_run: false, ...token })}>
          {say.update.go(counts.total)}
        </Press>
      )}
    </>
  );
}

/** Whether the first number of the version changes. */
function isMajor(from: string, to: string): boolean {
  const first = (version: string) => Number.parseInt(version.replace(/^v/i, ''), 10);
  return from !== '' && to !== '' && first(from) !== first(to);
}
