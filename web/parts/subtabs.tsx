/** The parts of a view, as links beside each other. Where they do not fit, the chosen one is scrolled into view. */

import { useEffect, useRef } from 'preact/hooks';

interface Props {
  label: string;
  tabs: readonly { key: string; href: string; word: string }[];
  at: string;
}

export function Subtabs({ label, tabs, at }: Props) {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    const chosen = row.current?.querySelector<HTMLElement>('[aria-current]');
    if (row.current && chosen)
      row.current.scrollLeft = chosen.offsetLeft - (row.current.clientWidth - chosen.offsetWidth) / 2;
  }, [at]);
  return (
    <nav ref={row} class="subtabs" aria-label={label}>
      {tabs.map(({ key, href, word }) => (
        <a key={key} href={href} aria-current={key === at ? 'page' : undefined}>
          {word}
        </a>
      ))}
    </nav>
  );
}
