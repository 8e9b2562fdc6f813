/** Users who log in here: their names, permissions and ways to log in. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { session, useMayApprove, useMayWrite } from '../api/session.js';
import { useStore } from '../api/store.js';
import { AddButton, Button, DeleteButton } from '../parts/button.js';
import { Confirm, Dialog } from '../parts/dialog.js';
import { Check, SelectField, TextField, useText } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { Pencil } from '../parts/icons.js';
import { Once } from '../parts/once.js';
import { Card } from '../parts/page.js';
import { Loaded } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { number, Time } from '../parts/time.js';
import { showToast, trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

/** A server hardly ever has more users than this; the REST interface lists them all. */
const SHOWN = 200;

interface User {
  id: number;
  name: string;
  right: 'read' | 'write';
  may_approve: boolean;
  active: boolean;
  has_password: boolean;
  api_keys: number;
}

export function Users() {
  const write = useMayWrite();
  const current = useStore(session);
  const own = current?.authenticated === true ? current.user.name : null;
  const [editing, setEditing] = useState<User | 'new' | null>(null);
  const [removing, setRemoving] = useState<User | null>(null);
  const users = useLoad('access:users', (signal) =>
    answer(api.GET('/users', { params: { query: { per_page: SHOWN } }, signal })),
  );
  const remove = async (user_id: number) => {
    await trying(
      async () => (await answer(api.DELETE('/users/{user_id}/delete', { params: { path: { user_id } } }))).message,
    );
    refresh('access:');
  };
  return (
    <Card title={t.users.title} actions={write && <AddButton text={t.users.add} onClick={() => setEditing('new')} />}>
      <Loaded of={users}>
        {({ data, total }) => (
          <>
            <Table heads={[t.users.name, t.access.right, t.users.state, t.users.created, ...(write ? [null] : [])]}>
              {data.map((user) => (
                <tr key={user.id}>
                  <th scope="row">
                    {user.name}
                    {user.name === own && <span class="muted"> · {t.users.you}</span>}
                  </th>
                  <td data-label={t.access.right}>
                    {t.users.rights[user.right]}
                    {user.may_approve && `, ${t.users.approves}`}
                  </td>
                  <td data-label={t.users.state} class={user.active && user.has_password ? '' : 'muted'}>
                    {user.active ? (user.has_password ? t.users.active : t.users.noPassword) : t.users.off}
                  </td>
                  <td data-label={t.users.created}>
                    <Time day iso={user.created} />
                  </td>
                  {write && (
                    <td class="act">
                      <Button
                        small
                        kind="quiet"
                        icon={Pencil}
                        label={`${t.edit}: ${user.name}`}
                        onClick={() => setEditing(user)}
                      >
                        {t.edit}
                      </Button>
                      <DeleteButton name={user.name} onClick={() => setRemoving(user)} />
                    </td>
                  )}
                </tr>
              ))}
            </Table>
            {total > data.length && <p class="muted">{t.now.more(number(total - data.length))}</p>}
          </>
        )}
      </Loaded>
      {editing !== null && <Edit user={editing === 'new' ? null : editing} close={() => setEditing(null)} />}
      {removing !== null && (
        <Confirm
          title={t.users.removeTitle(removing.name)}
          text={t.users.removeText(removing.api_keys)}
          onConfirm={() => remove(removing.id)}
          onClose={() => setRemoving(null)}
        />
      )}
    </Card>
  );
}

/** How the user logs in from now on. */
type Way = 'keep' | 'link' | 'password';

/** A new user, or changes to an existing one. Only changes are sent. */
function Edit({ user, close }: { user: User | null; close: () => void }) {
  const mayApprove = useMayApprove();
  const name = useText();
  const [right, setRight] = useState<User['right']>(user?.right ?? 'read');
  const [approves, setApproves] = useState(user?.may_approve ?? false);
  const [active, setActive] = useState(user?.active ?? true);
  const [way, setWay] = useState<Way>(user === null ? 'link' : 'keep');
  const password = useText();
  const [link, setLink] = useState<string | null>(null);
  const save = async () => {
    const secret = way === 'keep' ? {} : { password: way === 'link' ? null : password.value };
    const changed = {
      ...(right === user?.right ? {} : { right }),
      ...(approves === (user?.may_approve ?? false) ? {} : { may_approve: approves }),
      ...(active === user?.active ? {} : { active }),
      ...secret,
    };
    if (user !== null && Object.keys(changed).length === 0) return close();
    const { message, login_link } = await (user === null
      ? answer(api.POST('/users/add', { body: { name: name.value, right, may_approve: approves, ...secret } }))
      : answer(api.PATCH('/users/{user_id}/edit', { params: { path: { user_id: user.id } }, body: changed })));
    refresh('access:');
    showToast(message);
    if (login_link === undefined) close();
    else setLink(login_link);
  };
  if (link !== null)
    return (
      <Dialog title={user?.name ?? name.value} onClose={close}>
        <Once text={t.users.link} secret={link} word={t.start.done} done={close} />
      </Dialog>
    );
  return (
    <Dialog title={user?.name ?? t.users.add} onClose={close}>
      <Form onSubmit={save}>
        {user === null && <TextField label={t.users.name} name="name" {...name} required />}
        <SelectField
          label={t.access.right}
          name="right"
          value={right}
          onChange={(next) => setRight(next === 'write' ? 'write' : 'read')}
          options={[
            ['read', t.users.rights.read],
            ['write', t.users.rights.write],
          ]}
        />
        {mayApprove && <Check label={t.users.mayApprove} checked={approves} onChange={setApproves} />}
        <SelectField
          label={t.users.way}
          hint={t.users.wayHint[way]}
          value={way}
          onChange={(next) => setWay(next as Way)}
          options={(user === null ? (['link', 'password'] as const) : (['keep', 'link', 'password'] as const)).map(
            (one) => [one, t.users.ways[one]] as const,
          )}
        />
        {way === 'password' && (
          <TextField
            label={t.login.password}
            name="password"
            type="password"
            autocomplete="new-password"
            {...password}
            required
          />
        )}
        {user !== null && <Check label={t.users.mayLogIn} checked={active} onChange={setActive} />}
        {user !== null && <p class="hint">{t.users.endsSessions}</p>}
        <FormEnd send={user === null ? t.users.add : t.save} cancel={close} />
      </Form>
    </Dialog>
  );
}
