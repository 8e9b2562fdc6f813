/** Pictures of pages before and after an update: each pair on top of each other, with a handle that moves the border between them. */

import { useState } from 'preact/hooks';

interface Picture {
  page: string;
  device: 'desktop' | 'phone';
  taken: 'before' | 'after';
  /** Data of a WebP file, in base64. */
  file: string;
}

interface Words {
  left: string;
  right: string;
  before(what: string): string;
  after(what: string): string;
  handle(what: string): string;
}

interface Props {
  pictures: readonly Picture[];
  /** Which page this is, and on what. */
  labelOf(page: string, device: Picture['device']): string;
  words: Words;
}

/** Each page that has both. */
export function BeforeAfters({ pictures, labelOf, words }: Props) {
  return (
    <div class="compares">
      {pictures
        .filter(({ taken }) => taken === 'before')
        .flatMap((before) => {
          const after = pictures.find(
            ({ page, device, taken }) => taken === 'after' && page === before.page && device === before.device,
          );
          const label = labelOf(before.page, before.device);
          return after === undefined
            ? []
            : [<BeforeAfter key={label} before={before.file} after={after.file} label={label} words={words} />];
        })}
    </div>
  );
}

const source = (file: string) => `data:image/webp;base64,${file}`;

function BeforeAfter({ before, after, label, words }: { before: string; after: string; label: string; words: Words }) {
  const [at, setAt] = useState(50);
  return (
    <figure class="compare">
      <div class="frames">
        <img src={source(before)} alt={words.before(label)} />
        <img class="later" src={source(after)} alt={words.after(label)} style={{ clipPath: `inset(0 0 0 ${at}%)` }} />
        <input
          type="range"
          min={0}
          max={100}
          value={at}
          aria-label={words.handle(label)}
          onInput={(event) => setAt(Number(event.currentTarget.value))}
        />
        <span class="handle" style={{ left: `${at}%` }} aria-hidden="true" />
      </div>
      <figcaption class="small muted">
        <span>{words.left}</span>
        <strong>{label}</strong>
        <span>{words.right}</span>
      </figcaption>
    </figure>
  );
}
