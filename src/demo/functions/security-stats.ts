import { atLeast } from '../inventory.js';
import type { SecurityMark, SiteState } from '../state.js';

/** The checks of one site (child protocol §6.5). */
export function securityStats(state: SiteState, tls: boolean): Record<string, SecurityMark> {
  const active = state.themes.find((theme) => theme.slug === state.activeTheme);
  const idleTheme = state.themes.some((theme) => theme.slug !== state.activeTheme && theme.slug !== active?.parent);
  return {
    db_reporting: state.dbReporting,
    php_reporting: state.phpReporting,
    wp_uptodate: mark(state.wpUpdate === null),
    phpversion_matched: mark(atLeast(state.phpVersion, '8.0')),
    sslprotocol: mark(tls),
    debug_disabled: mark(!state.debug),
    sec_outdated_plugins: mark(state.plugins.every((plugin) => plugin.update === null)),
    sec_inactive_plugins: mark(state.plugins.every((plugin) => plugin.active)),
    sec_outdated_themes: mark(state.themes.every((theme) => theme.update === null)),
    sec_inactive_themes: mark(!idleTheme),
  };
}

export function securityIssues(state: SiteState, tls: boolean): number {
  return Object.values(securityStats(state, tls)).filter((value) => value.startsWith('N')).length;
}

function mark(fine: boolean): SecurityMark {
  return fine ? 'Y' : 'N';
}
