/** The evidence of a run: what was looked at on each site, how its pages looked before and after, and signed receipts. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { useLoad } from '../api/load.js';
import { BeforeAfters } from '../parts/before-after.js';
import { Button } from '../parts/button.js';
import { Icon } from '../parts/icon.js';
import { Download, Images } from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { Loaded } from '../parts/states.js';
import { number } from '../parts/time.js';
import { t } from '../texts/texts.js';

const PER_PAGE = 20;
/** Receipts in one file. */
const IN_FILE = 100;

/** What a receipt says, as far as it is shown. */
interface Document {
  site: { id: number; url: string };
  checked?: string[];
  not_checked?: string[];
  pictures?: object[];
}

interface Props {
  id: string;
  /** Of sites, as far as they are known. */
  names: ReadonlyMap<number, string>;
  /** Sites whose pictures are shown without being asked for. */
  shown: ReadonlySet<number>;
}

export function Proof({ id, names, shown }: Props) {
  const [page, setPage] = useState(1);
  const receipts = useLoad(
    `run:${id}:receipts:${page}`,
    (signal) =>
      answer(
        api.GET('/runs/{run_id}/receipts', {
          params: { path: { run_id: id }, query: { page, per_page: PER_PAGE } },
          signal,
        }),
      ),
    { keepShown: true },
  );
  return (
    <Card title={t.proof.title}>
      <Loaded of={receipts}>
        {({ data, total }) =>
          total === 0 ? (
            <p class="muted">{t.proof.none}</p>
          ) : (
            <>
              <Sites
                id={id}
                contents={data.map(({ document }) => JSON.parse(document) as Document)}
                names={names}
                shown={shown}
              />
              <Pager page={page} perPage={PER_PAGE} total={total} go={setPage} />
              <Verify id={id} total={total} keyId={data[0]?.key_id ?? ''} />
            </>
          )
        }
      </Loaded>
    </Card>
  );
}

/** What was looked at is said once, where it is the same on all of them. */
function Sites({ id, contents, names, shown }: Props & { contents: readonly Document[] }) {
  const [first] = contents;
  const ways = new Set(contents.map(({ checked, not_checked }) => JSON.stringify([checked, not_checked])));
  const same = contents.length > 1 && ways.size === 1;
  return (
    <>
      {same && first && <Checked content={first} />}
      <ul class="proofs">
        {contents.map((content) => (
          <li key={content.site.id}>
            <h3>
              {names.get(content.site.id) ?? t.address(content.site.url)}
              {names.has(content.site.id) && <span class="address">{t.address(content.site.url)}</span>}
            </h3>
            {!same && <Checked content={content} />}
            <SitePictures id={id} content={content} shown={shown.has(content.site.id)} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Checked({ content: { checked = [], not_checked = [] } }: { content: Document }) {
  return (
    <>
      {checked.map((sentence) => (
        <p key={sentence}>
          {t.proof.checked} {sentence.replace(/^1 site: /, '')}
        </p>
      ))}
      {not_checked.length > 0 && (
        <p class="small muted">
          {t.proof.notChecked} {not_checked.join(', ')}.
        </p>
      )}
    </>
  );
}

function SitePictures({ id, content, shown }: { id: string; content: Document; shown: boolean }) {
  const { site, pictures = [] } = content;
  const [asked, setAsked] = useState(false);
  if (pictures.length === 0) return <p class="small muted">{t.proof.noPictures}</p>;
  if (shown || asked) return <Pictures id={id} site={site.id} />;
  return (
    <div class="row">
      <Button small icon={Images} label={`${t.proof.pictures}: ${t.address(site.url)}`} onClick={() => setAsked(true)}>
        {t.proof.pictures}
      </Button>
    </div>
  );
}

function Pictures({ id, site }: { id: string; site: number }) {
  const pictures = useLoad(`run:${id}:pictures:${site}`, (signal) =>
    answer(api.GET('/runs/{run_id}/pictures/{site}', { params: { path: { run_id: id, site } }, signal })),
  );
  return (
    <Loaded of={pictures}>
      {({ data }) => <BeforeAfters pictures={data} labelOf={t.proof.page} words={t.pictures} />}
    </Loaded>
  );
}

/** How anyone can tell that nothing was changed since. */
function Verify({ id, total, keyId }: { id: string; total: number; keyId: string }) {
  const files = Array.from({ length: Math.ceil(total / IN_FILE) }, (_, index) => index + 1);
  return (
    <div class="verify">
      <p>
        {t.proof.verify} <code>sitefleet receipt verify receipts.json --key {keyId}</code>
      </p>
      <p class="row">
        {files.map((page) => (
          <a
            key={page}
            class="button small plain"
            href={`/v2/runs/${encodeURIComponent(id)}/receipts?per_page=${IN_FILE}&page=${page}`}
            download="receipts.json"
          >
            <Icon of={Download} />
            <span>{files.length === 1 ? t.proof.download : `${t.proof.download} ${number(page)}`}</span>
          </a>
        ))}
      </p>
    </div>
  );
}
