/** Tasks as returned to assistants. */

import type { timeTask } from '../../../schemas/time-tools.js';
import type { z } from '../../../schemas/zod.js';
import type { TaskView } from './views.js';

type Entry = z.output<ReturnType<typeof timeTask>>;

export function taskEntry({ description, ...view }: TaskView): Entry {
  const payment_status = view.payment_status as Entry['payment_status'];
  return { ...view, payment_status, ...(description === '' ? {} : { description }) };
}
