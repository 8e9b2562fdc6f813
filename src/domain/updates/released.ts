/** Versions that were quarantined once and that a person has released: a risk that is known, wherever they are installed. */

import { siteWord } from '../../../schemas/site-text.js';
import { cut } from '../../../schemas/text.js';
import { isoTime } from '../../runtime/iso-time.js';
import type { QuarantineRow } from '../../store/safety/quarantine.js';
import type { Ctx } from '../context.js';
import { UPDATE_TYPES } from './results.js';

interface Version {
  type: number;
  slug: string;
  new_version: string;
}

/** Versions told in words, and the longest evidence. */
const TOLD = 3;
const LONGEST = 120;

/** Those of the updates whose version was released, each version once; the last release first. */
export async function releasedAmong(ctx: Ctx, updates: readonly Version[]): Promise<QuarantineRow[]> {
  const versions = new Map(
    updates.map(({ type, slug, new_version: version }) => [
      JSON.stringify([type, slug, version]),
      { type, slug, version },
    ]),
  );
  return versions.size === 0 ? [] : ctx.store.quarantine.releasedAmong([...versions.values()]);
}

/** What is known of the first of them, a sentence each. */
export function releasedWords(rows: readonly QuarantineRow[]): string[] {
  const left = rows.length - TOLD;
  return [
    ...rows.slice(0, TOLD).map(sentence),
    ...(left > 0 ? [`And ${left} more versions that were quarantined before.`] : []),
  ];
}

function sentence({ type, slug, version, sites, evidence, lifted_by, lifted_at }: QuarantineRow): string {
  const [seen = ''] = JSON.parse(evidence) as string[];
  const what = `${UPDATE_TYPES[type] ?? 'plugin'} ${siteWord(slug)} ${siteWord(version)}`;
  const where = sites === 1 ? 'on 1 site' : `on ${sites} sites`;
  const day = isoTime(lifted_at)?.slice(0, 10) ?? '';
  return `${what} was quarantined before, after trouble ${where}: ${cut(seen, LONGEST)} Lifted by ${siteWord(lifted_by ?? '')} on ${day}.`;
}
