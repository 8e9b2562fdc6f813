/** Keys of programs, and where users are managed. */

import { KeyRound, Plus, Trash2 } from 'lucide';
import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { Form, SelectField, TextField } from '../parts/field.js';
import { Card, Page } from '../parts/page.js';
import { Empty, Loaded } from '../parts/states.js';
import { Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

export function Access() {
  const write = useMayWrite();
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<{ id: string; description: string } | null>(null);
  const keys = useLoad('access:keys', (signal) =>
    answer(api.GET('/rest-api/keys', { params: { query: { per_page: 100 } }, signal })),
  );
  const toggle = async (id: string, active: boolean) => {
    await trying(async () => {
      await answer(
        api.PATCH('/rest-api/edit-key/{key_identifier}', {
          params: { path: { key_identifier: id } },
          body: { active },
        }),
      );
      return active ? t.access.on : t.access.off;
    });
    refresh('access:');
  };
  return (
    <Page
      title={t.nav.access}
      about={t.access.about}
      actions={
        write && (
          <Button kind="main" icon={Plus} onClick={() => setAdding(true)}>
            {t.access.add}
          </Button>
        )
      }
    >
      <Card title={t.access.keys}>
        <Loaded of={keys}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty icon={KeyRound} title={t.access.none} />
            ) : (
              <div class="scroll">
                <table class="list">
                  <thead>
                    <tr>
                      <th scope="col">{t.access.description}</th>
                      <th scope="col">{t.access.ends}</th>
                      <th scope="col">{t.access.right}</th>
                      <th scope="col">{t.access.used}</th>
                      {write && <th scope="col" aria-label={t.sites.actions} />}
                    </tr>
                  </thead>
                  <tbody>
                    {data.map((key) => (
                      <tr key={key.id}>
                        <th scope="row">{key.description || t.access.unnamed}</th>
                        <td data-label={t.access.ends}>
                          <code>…{key.truncated_key}</code>
                        </td>
                        <td data-label={t.access.right}>
                          {t.access.rights[key.permissions_raw as keyof typeof t.access.rights] ?? key.permissions_raw}
                          {!key.active && <span class="muted"> · {t.access.isOff}</span>}
                        </td>
                        <td data-label={t.access.used}>
                          <Time iso={key.last_access} otherwise={t.never} />
                        </td>
                        {write && (
                          <td class="act">
                            <Button small kind="quiet" onClick={() => toggle(String(key.id), !key.active)}>
                              {key.active ? t.access.switchOff : t.access.switchOn}
                            </Button>
                            <Button
                              small
                              kind="danger"
                              icon={Trash2}
                              label={`${t.delete}: ${key.description || key.truncated_key}`}
                              onClick={() =>
                                setRemoving({ id: String(key.id), description: key.description || key.truncated_key })
                              }
                            >
                              {t.delete}
                            </Button>
                          </td>
                        )}
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )
          }
        </Loaded>
      </Card>
      <Card title={t.access.users}>
        <p>{t.access.usersText}</p>
        <pre>sitefleet user list{'\n'}sitefleet user add NAME --right read</pre>
      </Card>
      {adding && <AddKey close={() => setAdding(false)} />}
      {removing !== null && <RemoveKey {...removing} close={() => setRemoving(null)} />}
    </Page>
  );
}

function AddKey({ close }: { close: () => void }) {
  const [description, setDescription] = useState('');
  const [permissions, setPermissions] = useState('read');
  const [token, setToken] = useState<string | null>(null);
  const add = () =>
    trying(async () => {
      const made = await answer(api.POST('/rest-api/add-key', { body: { description, permissions, active: true } }));
      setToken(String(made.token));
      refresh('access:');
      return null;
    });
  return (
    <Dialog title={t.access.add} onClose={close}>
      {token === null ? (
        <Form onSubmit={() => void add()}>
          <TextField
            label={t.access.description}
            hint={t.access.descriptionHint}
            value={description}
            onInput={setDescription}
            required
          />
          <SelectField
            label={t.access.right}
            value={permissions}
            onChange={setPermissions}
            options={[
              ['read', t.access.rights.read],
              ['read,write', t.access.rights['read,write']],
            ]}
          />
          <div class="row end">
            <Button onClick={close}>{t.cancel}</Button>
            <Button kind="main" type="submit">
              {t.access.add}
            </Button>
          </div>
        </Form>
      ) : (
        <>
          <p>{t.access.once}</p>
          <pre class="token">{token}</pre>
          <div class="row end">
            <Button onClick={() => navigator.clipboard.writeText(token)}>{t.copy}</Button>
            <Button kind="main" onClick={close}>
              {t.access.kept}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}

function RemoveKey({ id, description, close }: { id: string; description: string; close: () => void }) {
  const remove = async () => {
    await trying(
      async () =>
        (
          await answer(
            api.DELETE('/rest-api/delete-key/{key_identifier}', { params: { path: { key_identifier: id } } }),
          )
        ).message,
    );
    close();
    refresh('access:');
  };
  return (
    <Dialog
      title={t.access.removeTitle(description)}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>{t.cancel}</Button>
          <Button kind="danger" icon={Trash2} onClick={remove}>
            {t.delete}
          </Button>
        </>
      }
    >
      <p>{t.access.removeText}</p>
    </Dialog>
  );
}
