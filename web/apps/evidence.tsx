/** The evidence of a run inside an assistant: its signed receipts, what was not looked at, and pages before and after. */

import { useEffect, useState } from 'preact/hooks';
import { BeforeAfters } from '../parts/before-after.js';
import { Button } from '../parts/button.js';
import { Images } from '../parts/icons.js';
import { plainUrl } from './frame.js';
import type { Host, ResourceFile } from './host.js';
import { say } from './texts.js';
import '../style/before-after.css';

interface Receipts {
  total: number;
  data: { document: string; key_id: string }[];
}

/** What a receipt says, as far as it is shown. */
interface Document {
  site: { id: number; url: string };
  checked?: string[];
  not_checked?: string[];
  pictures?: object[];
}

/**
 * Of a run that has ended. Nothing where there is none, or where the host reads no resources.
 * @param names of sites
 */
export function Evidence({ host, run, names }: { host: Host; run: string; names: ReadonlyMap<number, string> }) {
  const [found, setFound] = useState<Receipts>();
  useEffect(() => {
    if (!host.canRead) return;
    // Without its evidence the run is shown all the same.
    host.read(`svc://runs/${encodeURIComponent(run)}/receipts`).then(
      ([file]) => setFound(file && (JSON.parse(textIn(file)) as Receipts)),
      () => {},
    );
  }, [run]);
  const [first] = found?.data ?? [];
  if (found === undefined || first === undefined) return null;
  const contents = found.data.map(({ document }) => JSON.parse(document) as Document);
  const left = new Set(contents.flatMap(({ not_checked = [] }) => not_checked));
  return (
    <section class="evidence">
      <h2>{say.evidence.title}</h2>
      <p>{say.evidence.receipts(found.total, first.key_id)}</p>
      {left.size > 0 && (
        <p class="muted">
          {say.evidence.notChecked} {[...left].join(', ')}.
        </p>
      )}
      {contents
        .filter(({ pictures = [] }) => pictures.length > 0)
        .map(({ site }) => (
          <Pictures
            key={site.id}
            host={host}
            run={run}
            site={site.id}
            name={names.get(site.id) ?? plainUrl(site.url)}
          />
        ))}
    </section>
  );
}

function Pictures({ host, run, site, name }: { host: Host; run: string; site: number; name: string }) {
  const [files, setFiles] = useState<ResourceFile[]>();
  const [problem, setProblem] = useState('');
  const load = () =>
    host
      .read(`svc://runs/${encodeURIComponent(run)}/pictures/${site}`)
      .then(setFiles, (error: Error) => setProblem(error.message));
  if (files === undefined)
    return (
      <div class="row">
        <Button small icon={Images} onClick={load}>
          {say.evidence.show(name)}
        </Button>
        {problem !== '' && <p class="problem">{problem}</p>}
      </div>
    );
  return (
    <>
      <h3>{name}</h3>
      <BeforeAfters
        pictures={files.flatMap(({ blob: file, _meta }) => (_meta === undefined ? [] : [{ ..._meta, file }]))}
        labelOf={say.evidence.page}
        words={say.evidence.pictures}
      />
    </>
  );
}

const textIn = ({ blob }: ResourceFile) =>
  new TextDecoder().decode(Uint8Array.from(atob(blob), (one) => one.charCodeAt(0)));
