/** The last 24 hours of a monitor in hourly steps; hours without measurements are left blank. */

import { t } from '../texts/texts.js';
import { format } from './time.js';

interface Hour {
  timestamp: string;
  status: 'up' | 'down' | 'pending' | 'unknown';
}

export function Strip({ hours, name }: { hours: readonly Hour[]; name: string }) {
  const counted = (status: Hour['status']) => hours.filter((hour) => hour.status === status).length;
  return (
    <div class="strip" role="img" aria-label={t.strip.label(name, counted('up'), counted('down'), counted('unknown'))}>
      {hours.map(({ timestamp, status }) => (
        <span
          key={timestamp}
          class={status}
          title={`${format().short.format(new Date(timestamp))}: ${t.monitor[status]}`}
        />
      ))}
    </div>
  );
}
