/** A progress bar. Also in views inside assistants, which have texts of their own. */

const number = (value: number) => value.toLocaleString(document.documentElement.lang);

interface Props {
  done: number;
  total: number;
  failed?: number;
  label: string;
}

export function Progress({ done, total, failed = 0, label }: Props) {
  const share = total === 0 ? 0 : Math.min(100, (100 * done) / total);
  const bad = total === 0 ? 0 : Math.min(share, (100 * failed) / total);
  return (
    <div class="progress">
      <div
        class="bar"
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={done}
      >
        <span class="done" style={{ width: `${share - bad}%` }} />
        <span class="bad" style={{ width: `${bad}%` }} />
      </div>
      <span class="count">
        {number(done)} / {number(total)}
      </span>
    </div>
  );
}
