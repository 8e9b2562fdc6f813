/** What a person is asked before many sites are updated. Pure. */

import { siteWord } from '../../../schemas/site-text.js';
import type { updatePreview } from '../../../schemas/update.js';
import type { z } from '../../../schemas/zod.js';
import { counted, listed, namesOf, type Question, sentences } from '../common/question.js';

type Preview = z.output<z.ZodObject<ReturnType<typeof updatePreview>>>;

interface Asked {
  level?: readonly string[] | undefined;
  exclude_slugs?: readonly string[] | undefined;
}

/** `Update 49 plugins and WordPress 6.8.7 to 7.1.4 on "Novak Law Office", "Silva & Rossi" and 13 more sites?` */
export function updatesQuestion(preview: Preview, { level = [], exclude_slugs = [] }: Asked): Question {
  const { would_affect: counts, would_update: rows = [], will_be_skipped: skipped = [], guidance = [] } = preview;
  if (counts === undefined) return { text: 'Update everything on offer?' };
  const {
    total,
    cannot_be_rolled_back: firm = 0,
    sites_down: down = 0,
    backups_first: backups = 0,
    known_risks: released = [],
  } = counts;
  const what = listed([
    ...(counts.plugins === 0 ? [] : [counted(counts.plugins, 'plugin')]),
    ...(counts.themes === 0 ? [] : [counted(counts.themes, 'theme')]),
    ...(counts.translations === 0 ? [] : [counted(counts.translations, 'translation')]),
    ...(counts.core === 0 ? [] : [coreWords(rows, counts.core)]),
  ]);
  const patches = patchesOf(counts.by_item ?? []);
  const isPart = level.length === 0 && patches > 0 && patches < total;
  const left = skipped.map(({ code, count }) => `${count} ${code.replace(/^svc_/, '').replaceAll('_', ' ')}`);
  return {
    text: sentences(
      `Update ${what} on ${namesOf(
        rows.map(({ site_name }) => site_name),
        counts.sites,
      )}?`,
      level.length > 0 && `Only ${listed(level)} updates.`,
      isPart && `${patches} of ${total} ${patches === 1 ? 'is a patch' : 'are patches'}.`,
      exclude_slugs.length > 0 && `Left out as asked: ${exclude_slugs.slice(0, 5).map(siteWord).join(', ')}.`,
      backups > 0 && `A backup of ${counted(backups, 'site')} is made first.`,
      left.length > 0 && `Left as they are: ${left.join(', ')}.`,
      ...released.slice(0, 2),
      firm > 0 && (firm === total ? 'None of it can be rolled back.' : `${firm} of ${total} cannot be rolled back.`),
      guidance.length > 0 && `Said of them: ${guidance.slice(0, 3).join('; ')}.`,
      down > 0 && `${counted(down, 'site')} of them ${down === 1 ? 'is' : 'are'} down now.`,
    ),
    ...(isPart ? { instead: { words: 'only the patches', input: { level: ['patch'] } } } : {}),
  };
}

/** With the versions, if they are the same on all sites that are listed. */
function coreWords(rows: NonNullable<Preview['would_update']>, count: number): string {
  const core = rows.filter(({ type }) => type === 'core');
  const [from, to] = [core.map((row) => row.current_version), core.map((row) => row.new_version)].map(only);
  const versions = [from, to].filter((version) => version !== undefined).map(siteWord);
  const known = core.length === count && to !== undefined ? ` ${versions.join(' to ')}` : '';
  return `WordPress${known}${count === 1 ? '' : ` on ${count} sites`}`;
}

function only(values: readonly string[]): string | undefined {
  return new Set(values).size === 1 ? values[0] : undefined;
}

/** Of the counts by item and level, `plugin akismet/akismet.php: 49 (40 patch, 9 major)`. */
function patchesOf(byItem: readonly string[]): number {
  return byItem.reduce((sum, line) => sum + Number(/(\d+) patch[,)]/.exec(line)?.[1] ?? 0), 0);
}
