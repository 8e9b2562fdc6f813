/** API keys of programs. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayApprove, useMayWrite } from '../api/session.js';
import { AddButton, Button, DeleteButton } from '../parts/button.js';
import { Confirm, Dialog } from '../parts/dialog.js';
import { SelectField, TextField, useText } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { KeyRound } from '../parts/icons.js';
import { Once } from '../parts/once.js';
import { Card } from '../parts/page.js';
import { pageIn, pageOf, useQuery } from '../parts/query.js';
import { Empty, Loaded } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

const PER_PAGE = 50;

export function Keys() {
  const write = useMayWrite();
  const [query, change] = useQuery();
  const page = pageOf(query);
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<{ id: string; description: string } | null>(null);
  const keys = useLoad(
    `access:keys:${page}`,
    (signal) => answer(api.GET('/rest-api/keys', { params: { query: { page, per_page: PER_PAGE } }, signal })),
    { keepShown: true },
  );
  const at = (key_identifier: string) => ({ params: { path: { key_identifier } } });
  const toggle = async (id: string, active: boolean) => {
    await trying(async () => {
      await answer(api.PATCH('/rest-api/edit-key/{key_identifier}', { ...at(id), body: { active } }));
      return active ? t.access.on : t.access.off;
    });
    refresh('access:');
  };
  const remove = async (id: string) => {
    await trying(async () => (await answer(api.DELETE('/rest-api/delete-key/{key_identifier}', at(id)))).message);
    refresh('access:');
  };
  return (
    <Card title={t.access.keys} actions={write && <AddButton text={t.access.add} onClick={() => setAdding(true)} />}>
      <Loaded of={keys}>
        {({ data, total }) =>
          data.length === 0 ? (
            <Empty icon={KeyRound} title={t.access.none} />
          ) : (
            <Table
              heads={[t.access.description, t.access.ends, t.access.right, t.access.used, ...(write ? [null] : [])]}
              pages={{ page, perPage: PER_PAGE, total, go: pageIn(change) }}
            >
              {data.map((key) => {
                const name = key.description || key.truncated_key;
                return (
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
                        <Button
                          small
                          kind="quiet"
                          label={`${key.active ? t.access.switchOff : t.access.switchOn}: ${name}`}
                          onClick={() => toggle(String(key.id), !key.active)}
                        >
                          {key.active ? t.access.switchOff : t.access.switchOn}
                        </Button>
                        <DeleteButton
                          name={name}
                          onClick={() => setRemoving({ id: String(key.id), description: name })}
                        />
                      </td>
                    )}
                  </tr>
                );
              })}
            </Table>
          )
        }
      </Loaded>
      {adding && <AddKey close={() => setAdding(false)} />}
      {removing !== null && (
        <Confirm
          title={t.access.removeTitle(removing.description)}
          text={t.access.removeText}
          onConfirm={() => remove(removing.id)}
          onClose={() => setRemoving(null)}
        />
      )}
    </Card>
  );
}

function AddKey({ close }: { close: () => void }) {
  const mayApprove = useMayApprove();
  const description = useText();
  const [permissions, setPermissions] = useState('read');
  const [token, setToken] = useState<string | null>(null);
  const add = async () => {
    const made = await answer(
      api.POST('/rest-api/add-key', { body: { description: description.value, permissions, active: true } }),
    );
    setToken(String(made.token));
    refresh('access:');
  };
  return (
    <Dialog title={t.access.add} onClose={close}>
      {token === null ? (
        <Form onSubmit={add}>
          <TextField
            label={t.access.description}
            name="description"
            hint={t.access.descriptionHint}
            {...description}
            required
          />
          <SelectField
            label={t.access.right}
            name="permissions"
            value={permissions}
            onChange={setPermissions}
            options={[
              ['read', t.access.rights.read],
              ['read,write', t.access.rights['read,write']],
              ...(mayApprove ? [['read,approve', t.access.rights['read,approve']] as const] : []),
            ]}
          />
          <FormEnd send={t.access.add} cancel={close} />
        </Form>
      ) : (
        <Once text={t.access.once} secret={token} done={close} />
      )}
    </Dialog>
  );
}
