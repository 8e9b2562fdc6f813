/** Calls that put code on a site (child protocol §6.8): packages from a URL, and PHP that the child runs. */

import type { ChildPackages, InstallAnswer } from '../port.js';
import { fail } from './answers.js';
import type { SignedCall } from './content.js';
import { plainText } from './text.js';
import { entriesOf, get } from './values.js';

const MAX_OUTPUT = 20_000;

/** Creates the calls from one that counts as an update: they unpack files, and must not pile up on a site. */
export function createPackageCalls(update: SignedCall): ChildPackages {
  return {
    async installPackage(site, kind, address, activate, options) {
      const params = {
        type: kind,
        // JSON text, as the child decodes it.
        url: JSON.stringify(address),
        overwrite: 1,
        ...(activate ? { activatePlugin: 'yes' } : {}),
      };
      return installAnswer(await update(site, 'installplugintheme', params, options));
    },

    async runSnippet(site, code, options) {
      const answer = await update(site, 'code_snippet', { action: 'run_snippet', code }, options);
      const result = get(answer, 'result');
      if (typeof result !== 'string') fail('the code that it was to run');
      return result.slice(0, MAX_OUTPUT);
    },
  };
}

function installAnswer(answer: unknown): InstallAnswer {
  const items = entriesOf(get(get(answer, 'other_data'), 'install_items'), 10) ?? [];
  const [, item] = items[0] ?? [];
  return {
    claimed: get(answer, 'installation') === 'SUCCESS',
    version: plainText(get(item, 'version'), 100),
    message: plainText(get(answer, 'error'), 300),
  };
}
