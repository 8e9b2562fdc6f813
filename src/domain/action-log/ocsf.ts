/** Entries of the action log as events of the Open Cybersecurity Schema Framework: class API Activity, version 1.3. */

import { VERSION } from '../../runtime/version.js';
import type { ActionRow } from '../../store/action-log/action-log.js';

const CLASS = 6003;
const ACTIVITIES: [RegExp, id: number, name: string][] = [
  [/^(added|created|installed)/, 1, 'Create'],
  [/(updated|changed|activated|renewed|suspended|marked|rolled_back|ignored|acknowledged)$/, 3, 'Update'],
  [/(deleted|removed)$/, 4, 'Delete'],
];
const USER_TYPES: Readonly<Record<string, number>> = { user: 1, key: 3, token: 3, local: 2, system: 3 };

export function actionEvent(row: ActionRow) {
  const [, activity_id, activity_name] = ACTIVITIES.find(([verb]) => verb.test(row.action)) ?? [null, 99, row.action];
  const failed = row.code !== '';
  return {
    category_uid: 6,
    category_name: 'Application Activity',
    class_uid: CLASS,
    class_name: 'API Activity',
    activity_id,
    activity_name,
    type_uid: CLASS * 100 + activity_id,
    severity_id: 1,
    time: row.at,
    status_id: failed ? 2 : 1,
    ...(failed ? { status_code: row.code } : {}),
    message: [row.context, row.action, row.name || row.slug].filter((word) => word !== '').join(' '),
    metadata: {
      version: '1.3.0',
      uid: String(row.id),
      log_name: 'action_log',
      product: { name: 'Sitefleet', vendor_name: 'Sitefleet', version: VERSION },
    },
    actor: {
      user: {
        name: row.actor,
        type_id: USER_TYPES[row.actor_type] ?? 99,
        ...(row.actor_id === null ? {} : { uid: `${row.actor_type}:${row.actor_id}` }),
      },
      ...(row.client === '' ? {} : { app_name: row.client }),
    },
    api: { operation: row.operation || row.action, request: { uid: row.request_id }, service: { name: 'Sitefleet' } },
    src_endpoint: { name: row.via },
    resources: [
      {
        type: row.context,
        ...(row.name === '' ? {} : { name: row.name }),
        ...(row.slug === '' ? {} : { uid: row.slug }),
      },
    ],
    unmapped: {
      site_id: row.site_id,
      detail: row.detail,
      old_version: row.old_version,
      new_version: row.new_version,
      input: row.input,
      fields: row.fields,
      undoes: row.undoes,
      previous: row.previous,
      hash: row.hash,
    },
  };
}
