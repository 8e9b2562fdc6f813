/** Two pictures of the same page on top of each other, with a handle that moves the border between them. */

import { useState } from 'preact/hooks';

interface Props {
  /** Data of a WebP file, in base64. */
  before: string;
  after: string;
  /** Which page this is, and on what. */
  label: string;
  words: {
    left: string;
    right: string;
    before(what: string): string;
    after(what: string): string;
    handle(what: string): string;
  };
}

const source = (file: string) => `data:image/webp;base64,${file}`;

export function BeforeAfter({ before, after, label, words }: Props) {
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
