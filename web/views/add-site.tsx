/** Adding sites: one by its address and login, or several from a list. */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, answer, api } from '../api/client.js';
import { refresh } from '../api/load.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Check, TextField, useText } from '../parts/field.js';
import { Form } from '../parts/form.js';
import { Globe } from '../parts/icons.js';
import { OwnerField, TagChecks } from '../parts/owners.js';
import { wordsOf } from '../parts/states.js';
import { showToast } from '../parts/toast.js';
import { t } from '../texts/texts.js';

/** Lines of a list; more are for the import in the shell. */
const MOST = 200;

interface Given {
  url: string;
  admin: string;
  adminpassword?: string;
  uniqueid?: string;
  http_user?: string;
  http_pass?: string;
  client_id?: number;
  groupids?: number[];
}

/** Connects a site, and installs the guard if asked for; returns what to say. */
async function connect({ url, ...given }: Given, guard: boolean): Promise<string> {
  const address = /^https?:\/\//i.test(url) ? url : `https://${url}`;
  const filled = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')) as Omit<Given, 'url'>;
  const { data } = await answer(api.POST('/sites/add', { body: { ...filled, url: address } }));
  refresh('sites:', 'now:');
  if (!guard) return t.start.added(data.name);
  try {
    const params = { path: { id_or_domain: String(data.id) } };
    await answer(api.POST('/sites/{id_or_domain}/guard', { params, body: { allow_login: true } }));
    return t.start.addedGuarded(data.name);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `${t.start.added(data.name)} ${t.start.noGuard} ${wordsOf(error)}`;
  }
}

interface Props {
  /** Called after each site, with the number of those that were added. */
  added: (count: number) => void;
  /** Further buttons. */
  children?: ComponentChildren;
}

export function AddSiteForm({ added, children }: Props) {
  const url = useText();
  const admin = useText();
  const password = useText();
  const unique = useText();
  const httpUser = useText();
  const httpPass = useText();
  const [client, setClient] = useState('');
  const [tags, setTags] = useState<ReadonlySet<number>>(new Set());
  const [guard, setGuard] = useState(false);
  const [count, setCount] = useState(0);
  const add = async () => {
    const said = await connect(
      {
        url: url.value.trim(),
        admin: admin.value,
        adminpassword: password.value,
        uniqueid: unique.value,
        http_user: httpUser.value,
        http_pass: httpPass.value,
        ...(client === '' ? {} : { client_id: Number(client) }),
        ...(tags.size === 0 ? {} : { groupids: [...tags] }),
      },
      guard,
    );
    for (const text of [url, password, unique]) text.onInput('');
    setCount(count + 1);
    showToast(said);
    added(count + 1);
  };
  return (
    <>
      <Form onSubmit={add}>
        <TextField label={t.start.url} name="url" placeholder="https://example.com/" {...url} required />
        <TextField label={t.start.admin} name="admin" hint={t.start.adminHint} {...admin} required />
        <TextField
          label={t.start.password}
          name="adminpassword"
          hint={t.start.passwordHint}
          type="password"
          autocomplete="new-password"
          {...password}
        />
        <TextField label={t.start.unique} name="uniqueid" hint={t.start.uniqueHint} {...unique} />
        <Check label={t.start.guard} checked={guard} onChange={setGuard} />
        <details>
          <summary>{t.start.moreFields}</summary>
          <div class="form">
            <TextField label={t.start.httpUser} name="http_user" hint={t.start.httpHint} {...httpUser} />
            <TextField
              label={t.start.httpPass}
              name="http_pass"
              type="password"
              autocomplete="new-password"
              {...httpPass}
            />
            <OwnerField
              kind="clients"
              label={t.sites.client}
              any={t.site.noClient}
              value={client}
              onChange={setClient}
            />
            <TagChecks chosen={tags} onChange={setTags} />
          </div>
        </details>
        <div class="row end">
          <Button kind={count === 0 ? 'main' : 'plain'} type="submit" icon={Globe}>
            {count === 0 ? t.start.connect : t.start.another}
          </Button>
          {children}
        </div>
      </Form>
      <Several guard={guard} added={(more) => added(count + more)} />
    </>
  );
}

/** A list of sites, one a line: address, login name, password. */
function Several({ guard, added }: { guard: boolean; added: (count: number) => void }) {
  const [text, setText] = useState('');
  const [said, setSaid] = useState<readonly string[]>([]);
  const lines = text
    .split('\n')
    .map((line) => line.split(/[,;\t]/).map((cell) => cell.trim().replace(/^"(.*)"$/, '$1')))
    .filter(([url = '']) => url !== '' && !/^(url|address)$/i.test(url))
    .slice(0, MOST);
  const addAll = async () => {
    setSaid([]);
    let count = 0;
    const left: string[] = [];
    for (const [url = '', admin = '', adminpassword = '', uniqueid = ''] of lines) {
      let line: string;
      try {
        line = await connect({ url, admin, adminpassword, uniqueid }, guard);
        count++;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        line = `${url}: ${wordsOf(error)}`;
        left.push([url, admin, adminpassword, uniqueid].join(', '));
      }
      setSaid((before) => [...before, line]);
    }
    // What failed stays, to be corrected.
    setText(left.join('\n'));
    if (count > 0) added(count);
  };
  return (
    <details>
      <summary>{t.start.several}</summary>
      <div class="form">
        <label class="field">
          <span>{t.start.list}</span>
          <textarea rows={5} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <p class="hint">{t.start.listHint}</p>
        <ul class="lines" role="status">
          {said.map((line, index) => (
            <li key={index}>{line}</li>
          ))}
        </ul>
        <div class="row end">
          <Button icon={Globe} disabled={lines.length === 0} onClick={addAll}>
            {t.start.connectAll(lines.length)}
          </Button>
        </div>
      </div>
    </details>
  );
}

export function AddSiteDialog({ close }: { close: () => void }) {
  const [count, setCount] = useState(0);
  return (
    <Dialog title={t.sites.add} onClose={close}>
      <p class="hint">{t.start.bringText}</p>
      <AddSiteForm added={setCount}>
        <Button kind={count === 0 ? 'plain' : 'main'} onClick={close}>
          {count === 0 ? t.cancel : t.close}
        </Button>
      </AddSiteForm>
    </Dialog>
  );
}
