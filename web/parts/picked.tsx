/** What was picked one by one, each with a button that takes it out again. */

import { t } from '../texts/texts.js';
import { Button } from './button.js';
import { X } from './icons.js';

interface Props<K> {
  keys: readonly K[];
  word: (key: K) => string;
  remove: (key: K) => void;
}

export function Picked<K extends number | string>({ keys, word, remove }: Props<K>) {
  if (keys.length === 0) return null;
  return (
    <ul class="picked">
      {keys.map((key) => (
        <li key={key}>
          <Button small icon={X} label={t.recipients.without(word(key))} onClick={() => remove(key)}>
            {word(key)}
          </Button>
        </li>
      ))}
    </ul>
  );
}
