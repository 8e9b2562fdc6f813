/** Logging in, by name and password or by a one-time link, whose token is in the fragment (#) and so in no log. */

import { useEffect, useState } from 'preact/hooks';
import { ended, logIn } from '../api/session.js';
import { useStore } from '../api/store.js';
import { Button } from '../parts/button.js';
import { TextField, useText } from '../parts/field.js';
import { Form } from '../parts/form.js';
import { LogIn as Enter } from '../parts/icons.js';
import { focusNextPage } from '../parts/page.js';
import { Mark, Offline } from '../parts/shell.js';
import { t } from '../texts/texts.js';

/** Takes the token from the address and removes it there at once, so that it stays in no history. */
function takeLink(): string | null {
  const token = location.pathname === '/login' ? location.hash.slice(1) : '';
  if (token === '') return null;
  history.replaceState(null, '', '/login');
  return token;
}

export function LogIn() {
  const username = useText();
  const password = useText();
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const over = useStore(ended);

  const enter = async (given: Parameters<typeof logIn>[0]) => {
    setBusy(true);
    setProblem(await logIn(given));
    setBusy(false);
  };
  useEffect(() => {
    document.title = t.product;
    focusNextPage();
    const link = takeLink();
    if (link !== null) void enter({ link });
  }, []);

  return (
    <main class="login">
      <Offline />
      <div class="card">
        <h1>
          <Mark />
          {t.product}
        </h1>
        {over && problem === null && <p class="note">{t.login.ended}</p>}
        <Form onSubmit={() => enter({ username: username.value, password: password.value })}>
          <TextField label={t.login.name} {...username} autocomplete="username" required />
          <TextField label={t.login.password} type="password" {...password} autocomplete="current-password" required />
          {problem !== null && problem !== '' && (
            <p class="problem" role="alert">
              {problem}
            </p>
          )}
          <Button type="submit" kind="main" icon={Enter} busy={busy}>
            {t.login.enter}
          </Button>
        </Form>
        <p class="hint">{t.login.help}</p>
      </div>
    </main>
  );
}
