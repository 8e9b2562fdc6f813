/** A secret that is shown once: it can be copied, and is only closed explicitly. */

import { t } from '../texts/texts.js';
import { Button } from './button.js';

interface Props {
  text: string;
  secret: string;
  /** Label of the button that closes. */
  word?: string;
  done: () => void;
}

export function Once({ text, secret, word = t.access.kept, done }: Props) {
  return (
    <>
      <p>{text}</p>
      <pre class="token">{secret}</pre>
      <div class="row end">
        <Button onClick={() => navigator.clipboard.writeText(secret)}>{t.copy}</Button>
        <Button kind="main" onClick={done}>
          {word}
        </Button>
      </div>
    </>
  );
}
