import { list, type Params, text } from '../params.js';

/**
 * The filters that get_all_plugins and get_all_themes share: `status`, `filter`, `keyword`, `not_criteria`,
 * `not_installed` (child protocol §6.1).
 */
export function filterItems(items: Record<string, unknown>[], params: Params, allKey: string): Record<string, unknown> {
  const everyStatus = text(params, 'filter') === '0';
  const wanted = text(params, 'status') === 'active' ? 1 : 0;
  const keywords = list(params, 'keyword', ',').map((word) => word.toLowerCase());
  const inverted = text(params, 'not_criteria') === '1';
  const data = items.filter((item) => {
    if (!everyStatus && item.active !== wanted) return false;
    if (keywords.length === 0) return true;
    const title = `${item.name} ${item.title ?? ''}`.toLowerCase();
    return keywords.some((word) => title.includes(word)) !== inverted;
  });
  const withAll = text(params, 'not_installed') === '1' && data.length === 0;
  return { data, ...(withAll ? { [allKey]: items } : {}) };
}
