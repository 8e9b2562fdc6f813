/** The job handler of changes of plugins and themes. */

import type { JobHandler } from '../actions/handler.js';
import { outcomeOfItems } from '../actions/outcomes.js';
import { type ActionResult, actOnExtensions, type ExtensionParams, finishExtensions } from './act.js';

/** Plugin or theme changes that a direct call had no time to finish. */
export const extensionHandler: JobHandler<ExtensionParams, ActionResult> = {
  type: 'extension',
  failure: 'svc_operation_failed',
  run: actOnExtensions,
  resume: finishExtensions,
  outcomeOf: ({ done, errors }) =>
    outcomeOfItems([
      ...done.map((slug) => ({ done: true, facts: { slug } })),
      ...errors.map(({ slug, code, message, unknown }) => ({
        done: unknown === true ? null : false,
        facts: { slug, code, message },
      })),
    ]),
};
