/** Time tracker routes that are not in the routes document: buckets, settings, deleting tasks (REST §6.9.3). */

import { bucketFields, timeSettings as settingFields } from '../../../../schemas/time.js';
import { z } from '../../../../schemas/zod.js';
import { addBucket, changeBucket, deleteBucket } from '../../../domain/time-tracker/buckets.js';
import { changeTimeSettings, timeSettings } from '../../../domain/time-tracker/settings.js';
import { deleteTask } from '../../../domain/time-tracker/tasks.js';
import { clientOf, clientPath } from '../clients/path.js';
import { onlyShown, withoutShown } from '../only-shown.js';
import { ofModule, route } from '../route.js';
import { writtenOf } from '../schemas/records.js';
import { bucketShape, deletedShape, timeSettingsShape } from '../schemas/time-tracker.js';
import { bucketPath, DIGITS, inRestWords, TIME_MODULE as MODULE, taskPath } from './time-tracker.js';

/** Whether a client has settings of its own. */
const SOURCE = ['source'] as const;

export const timeTrackerExtra = ofModule(MODULE, [
  route({
    on: 'DELETE /time-tracker/tasks/{task_id}/delete',
    change: 'deletions',
    summary: 'Delete a task and its time',
    where: { task_id: DIGITS.task_id },
    params: () => z.object(taskPath()),
    returns: () => writtenOf(deletedShape()),
    answer: async ({ task_id }, ctx) => {
      await deleteTask(ctx, task_id);
      return { message: 'The task was deleted.', data: { id: task_id } };
    },
  }),
  route({
    on: 'POST /time-tracker/buckets/add',
    change: 'other',
    body: 'required',
    fails: [404],
    summary: 'Add an hour bucket',
    params: () =>
      z.object({
        ...z.object(bucketFields()).partial().shape,
        title: bucketFields().title,
        hours: bucketFields().hours,
      }),
    returns: () => writtenOf(bucketShape()),
    answer: async (input, ctx) => ({
      message: 'The bucket was added.',
      data: await inRestWords(addBucket(ctx, input)),
    }),
  }),
  route({
    on: 'PUT|PATCH /time-tracker/buckets/{bucket_id}/edit',
    change: 'other',
    body: 'required',
    summary: 'Change an hour bucket',
    where: { bucket_id: DIGITS.bucket_id },
    params: () => z.object({ ...z.object(bucketFields()).partial().shape, ...bucketPath() }),
    returns: () => writtenOf(bucketShape()),
    answer: async ({ bucket_id, ...change }, ctx) => ({
      message: 'The bucket was changed.',
      data: await inRestWords(changeBucket(ctx, bucket_id, change)),
    }),
  }),
  route({
    on: 'DELETE /time-tracker/buckets/{bucket_id}/delete',
    change: 'deletions',
    summary: 'Delete an hour bucket; its tasks stay',
    where: { bucket_id: DIGITS.bucket_id },
    params: () => z.object(bucketPath()),
    returns: () => writtenOf(deletedShape()),
    answer: async ({ bucket_id }, ctx) => {
      await deleteBucket(ctx, bucket_id);
      return { message: 'The bucket was deleted. Its tasks stay.', data: { id: bucket_id } };
    },
  }),
  route({
    on: 'PUT|PATCH /time-tracker/settings/edit',
    change: 'settings',
    body: 'required',
    summary: 'Change the global settings',
    params: () =>
      z
        .object(settingFields())
        .partial()
        .extend(onlyShown(timeSettingsShape().pick({ source: true }).shape)),
    returns: () => writtenOf(timeSettingsShape()),
    answer: async (sent, ctx) => {
      const change = await withoutShown(sent, SOURCE, () => timeSettings(ctx, null));
      return { message: 'The settings were changed.', data: await changeTimeSettings(ctx, null, change) };
    },
  }),
  route({
    on: 'PUT|PATCH /time-tracker/clients/{id_or_email}/settings/edit',
    change: 'settings',
    body: 'required',
    summary: 'Change the settings of a client; null restores the global setting',
    params: () =>
      z
        .object(settingFields())
        .partial()
        .extend({ ...clientPath(), ...onlyShown(timeSettingsShape().pick({ source: true }).shape) }),
    returns: () => writtenOf(timeSettingsShape()),
    answer: async ({ id_or_email, ...sent }, ctx) => {
      const { id } = await clientOf(ctx, id_or_email);
      const change = await withoutShown(sent, SOURCE, () => timeSettings(ctx, id));
      return { message: "The client's settings were changed.", data: await changeTimeSettings(ctx, id, change) };
    },
  }),
]);
