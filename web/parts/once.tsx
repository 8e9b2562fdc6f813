/** A secret that is shown once: it can be copied, and is only closed explicitly. */

import { t } from '../texts/texts.js';
import { Button } from './button.js';

export function Once({ text, secret, done }: { text: string; secret: string; done: () => void }) {
  return (
    <>
      <p>{text}</p>
      <pre class="token">{secret}</pre>
      <div class="row end">
        <Button onClick={() => navigator.clipboard.writeText(secret)}>{t.copy}</Button>
        <Button kind="main" onClick={done}>
          {t.access.kept}
        </Button>
      </div>
    </>
  );
}
