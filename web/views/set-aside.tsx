/** Setting aside what needs attention: acknowledged, snoozed or done. Everyone sees by whom, and the note. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { SelectField, TextField, useText } from '../parts/field.js';
import { AlarmClock, Check as CheckMark, Eye } from '../parts/icons.js';
import { number, Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

type State = 'acknowledged' | 'snoozed' | 'done' | 'open';

/** Returns what was done. */
async function mark(subject: string, state: State, more: { note?: string; hours?: number } = {}): Promise<string> {
  const { message } = await answer(api.POST('/fleet/attention/mark', { body: { subject, state, ...more } }));
  refresh('now:', 'site:', 'monitors:');
  return message;
}

const HOURS = [1, 4, 24, 72, 168, 720];

/** Marks it as done, and says so with a button that takes it back. */
export function finish(subject: string): Promise<boolean> {
  return trying(
    () => mark(subject, 'done'),
    () => mark(subject, 'open'),
  );
}

interface Props {
  subject: string;
  /** What it is about, in words. */
  of: string;
  /** What to do first: an outage is acknowledged, other matters are done with. */
  first: 'acknowledged' | 'done';
  /** The address asked for it, as the links of mails do. */
  asked?: boolean;
}

export function SetAside({ subject, of, first, asked = false }: Props) {
  const [open, setOpen] = useState(asked);
  const [hours, setHours] = useState('24');
  const note = useText();
  const word = first === 'acknowledged' ? t.aside.acknowledge : t.aside.done;
  const set = (state: State) => () =>
    trying(
      () => mark(subject, state, { note: note.value, hours: Number(hours) }),
      () => mark(subject, 'open'),
    ).then(() => setOpen(false));
  const buttons = {
    acknowledged: (
      <Button
        key="acknowledged"
        kind={first === 'acknowledged' ? 'main' : 'plain'}
        icon={Eye}
        onClick={set('acknowledged')}
      >
        {t.aside.acknowledge}
      </Button>
    ),
    done: (
      <Button key="done" kind={first === 'done' ? 'main' : 'plain'} icon={CheckMark} onClick={set('done')}>
        {t.aside.done}
      </Button>
    ),
  };
  return (
    <>
      <Button
        small
        icon={first === 'acknowledged' ? Eye : CheckMark}
        label={`${word}: ${of}`}
        onClick={() => setOpen(true)}
      >
        {word}
      </Button>
      {open && (
        <Dialog
          title={t.aside.title(of)}
          onClose={() => setOpen(false)}
          confirm={
            <>
              <Button icon={AlarmClock} onClick={set('snoozed')}>
                {t.aside.snooze}
              </Button>
              {first === 'acknowledged' ? [buttons.done, buttons.acknowledged] : [buttons.acknowledged, buttons.done]}
            </>
          }
        >
          <p>{t.aside.text}</p>
          <TextField label={t.aside.note} name="note" {...note} />
          <SelectField
            label={t.aside.hours}
            value={hours}
            onChange={setHours}
            options={HOURS.map((count) => [String(count), t.aside.span(count)] as const)}
          />
        </Dialog>
      )}
    </>
  );
}

interface Marked {
  mark: Exclude<State, 'open'> | null;
  mark_by: string;
  mark_note: string;
  mark_until: string | null;
}

/** Who set it aside, and why; nothing where nobody did. */
export function AsideNote({ of: { mark: state, mark_by, mark_note, mark_until } }: { of: Marked }) {
  if (state === null) return null;
  return (
    <>
      , {t.aside.state[state]} {mark_until !== null && <Time iso={mark_until} />} {t.aside.by(mark_by, mark_note)}
    </>
  );
}

const LISTED = 20;

/** What was set aside of late, so that it is not forgotten and can be brought back. */
export function Aside() {
  const write = useMayWrite();
  const aside = useLoad('now:aside', (signal) =>
    answer(api.GET('/fleet/attention/aside', { params: { query: { per_page: LISTED } }, signal })),
  );
  const { data = [], total = 0 } = aside.data ?? {};
  if (total === 0) return null;
  return (
    <details class="aside">
      <summary>{t.aside.list(number(total))}</summary>
      <ul class="log">
        {data.map((one) => (
          <li key={one.subject}>
            <span class="what">
              {one.site_id === null ? one.title : <a href={`/sites/${one.site_id}`}>{one.title}</a>}:{' '}
              {t.aside.kind(one.subject)}
            </span>
            {write && (
              <Button small onClick={() => trying(() => mark(one.subject, 'open'))}>
                {t.aside.back}
              </Button>
            )}
            <p class="small muted">
              {one.state === 'open' ? '' : t.aside.state[one.state]} {one.until !== null && <Time iso={one.until} />}{' '}
              {t.aside.by(one.by, one.note)}, <Time iso={one.at} />
            </p>
          </li>
        ))}
      </ul>
      {total > LISTED && <p class="muted small">{t.now.more(number(total - LISTED))}</p>}
    </details>
  );
}
