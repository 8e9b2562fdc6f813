/** Shown instead of data: that it is loading, that there is none, or what went wrong. */

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../api/client.js';
import { t } from '../texts/texts.js';
import { Button } from './button.js';
import { Icon } from './icon.js';
import type { IconNode } from './icons.js';
import { CircleAlert, RotateCw } from './icons.js';

/** Shown only when the answer takes more than 150 ms, so that quick answers do not flicker. */
export function Loading({ rows = 3 }: { rows?: number }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return <div class="loading" aria-busy="true" />;
  return (
    <div class="loading" role="status" aria-busy="true" aria-label={t.loading}>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} class="bone" />
      ))}
    </div>
  );
}

interface EmptyProps {
  icon: IconNode;
  title: string;
  children?: ComponentChildren;
}

export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="empty">
      <Icon of={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** The error as a message for users. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof ApiError)) return String(error);
  if (error.status === 0) return t.failed.noAnswer;
  return error.message || t.failed.status(error.status);
}

export function Failed({ error, retry }: { error: ApiError; retry?: (() => void) | undefined }) {
  return (
    <div class="failed" role="alert">
      <Icon of={CircleAlert} />
      <div>
        <p>{wordsOf(error)}</p>
        {error.advice !== null && error.status !== 0 && <p class="muted">{error.advice}</p>}
        {retry && (
          <Button small icon={RotateCw} onClick={retry}>
            {t.retry}
          </Button>
        )}
      </div>
    </div>
  );
}

interface LoadedProps<T> {
  of: { data: T | undefined; error: ApiError | undefined; reload(): void };
  rows?: number;
  children: (data: T) => ComponentChildren;
}

/** Shows data where available, with a note when it could not be reloaded; else the loading state or the error. */
export function Loaded<T>({ of: { data, error, reload }, rows = 3, children }: LoadedProps<T>) {
  if (data === undefined)
    return error === undefined ? <Loading rows={rows} /> : <Failed error={error} retry={reload} />;
  return (
    <>
      {error !== undefined && error.status !== 0 && <Failed error={error} retry={reload} />}
      {children(data)}
    </>
  );
}
