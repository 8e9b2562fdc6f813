/** The user's own password: users who logged in by a link are asked to choose one. */

import { useState } from 'preact/hooks';
import { changePassword } from '../api/own-password.js';
import { logOut, session } from '../api/session.js';
import { useStore } from '../api/store.js';
import { t } from '../texts/texts.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';
import { TextField, useText } from './field.js';
import { Form, FormEnd } from './form.js';
import { Icon } from './icon.js';
import { KeyRound, LogOut } from './icons.js';
import { showToast } from './toast.js';

/** A button among those of the account. */
export function OwnPassword() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class="close"
        title={t.account.password}
        aria-label={t.account.password}
        onClick={() => setOpen(true)}
      >
        <Icon of={KeyRound} />
      </button>
      {open && <Choose close={() => setOpen(false)} />}
    </>
  );
}

/** Shown above every view until the user has a password. */
export function NoPassword() {
  const current = useStore(session);
  const [open, setOpen] = useState(false);
  if (current?.authenticated !== true || current.user.has_password) return null;
  return (
    <div class="note banner">
      <p>{t.account.noPassword}</p>
      <Button small kind="main" icon={KeyRound} onClick={() => setOpen(true)}>
        {t.account.choose}
      </Button>
      {open && <Choose close={() => setOpen(false)} />}
    </div>
  );
}

function Choose({ close }: { close: () => void }) {
  const current = useStore(session);
  const has = current?.authenticated === true && current.user.has_password;
  const old = useText();
  const password = useText();
  const save = async () => {
    await changePassword({ ...(has ? { current_password: old.value } : {}), password: password.value });
    showToast(t.account.passwordChanged);
    close();
  };
  return (
    <Dialog title={has ? t.account.password : t.account.choose} onClose={close}>
      <Form onSubmit={save}>
        {has && (
          <TextField
            label={t.account.currentPassword}
            name="current_password"
            type="password"
            autocomplete="current-password"
            {...old}
            required
          />
        )}
        <TextField
          label={t.account.newPassword}
          name="password"
          hint={t.account.passwordHint}
          type="password"
          autocomplete="new-password"
          {...password}
          required
        />
        <FormEnd send={t.save} cancel={close} />
      </Form>
      <p class="small muted">{t.account.everywhereText}</p>
      <Button small kind="quiet" icon={LogOut} onClick={() => logOut(true)}>
        {t.account.everywhere}
      </Button>
    </Dialog>
  );
}
