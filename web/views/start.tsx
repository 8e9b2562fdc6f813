/** First start: adding sites, choosing recipients, monitoring. Each step can be skipped, and done later. */

import { Activity, ArrowRight, BellRing, Globe } from 'lucide';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { answer, api } from '../api/client.js';
import { refresh } from '../api/load.js';
import { Button, LinkButton } from '../parts/button.js';
import { TextField, useText } from '../parts/field.js';
import { Form } from '../parts/form.js';
import { Card, Page } from '../parts/page.js';
import { showToast, trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { RecipientForm } from './recipient-form.js';
import { watchAll } from './watch.js';

const STEPS = ['sites', 'alerts', 'monitor'] as const;

export function Start() {
  const { route } = useLocation();
  const [step, setStep] = useState(0);
  const next = () => (step + 1 < STEPS.length ? setStep(step + 1) : route('/'));
  const current = STEPS[step];
  return (
    <Page title={t.start.title} about={t.start.about}>
      <ol class="progression" aria-label={t.start.steps}>
        {STEPS.map((one, index) => (
          <li key={one} aria-current={index === step ? 'step' : undefined} class={index < step ? 'done' : ''}>
            {t.start.step[one]}
          </li>
        ))}
      </ol>
      {current === 'sites' && <Bring next={next} />}
      {current === 'alerts' && (
        <Card title={t.start.alertsTitle}>
          <p>{t.start.alertsText}</p>
          <RecipientForm done={next} />
          <p class="small muted">
            {t.start.mailText} <a href="/settings">{t.nav.settings}</a>
          </p>
        </Card>
      )}
      {current === 'monitor' && <Monitor next={next} />}
      <div class="row end">
        {step > 0 && (
          <Button kind="quiet" onClick={() => setStep(step - 1)}>
            {t.start.back}
          </Button>
        )}
        <Button icon={ArrowRight} onClick={next}>
          {t.start.skip}
        </Button>
      </div>
    </Page>
  );
}

function Bring({ next }: { next: () => void }) {
  const url = useText();
  const admin = useText();
  const password = useText();
  const unique = useText();
  const [count, setCount] = useState(0);
  const add = async () => {
    const address = /^https?:\/\//i.test(url.value) ? url.value : `https://${url.value}`;
    const { data } = await answer(
      api.POST('/sites/add', {
        body: {
          url: address,
          admin: admin.value,
          ...(password.value === '' ? {} : { adminpassword: password.value }),
          ...(unique.value === '' ? {} : { uniqueid: unique.value }),
        },
      }),
    );
    setCount(count + 1);
    for (const text of [url, password, unique]) text.onInput('');
    refresh('sites:', 'now:');
    showToast(t.start.added(data.name));
  };
  return (
    <Card title={t.start.bring}>
      <p>{t.start.bringText}</p>
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
        <div class="row end">
          <Button kind={count === 0 ? 'main' : 'plain'} type="submit" icon={Globe}>
            {count === 0 ? t.start.connect : t.start.another}
          </Button>
          {count > 0 && (
            <Button kind="main" onClick={next}>
              {t.start.goOn(count)}
            </Button>
          )}
        </div>
      </Form>
      <details>
        <summary>{t.start.many}</summary>
        <p>{t.start.manyText}</p>
        <pre>
          sitefleet import mainwp &gt; export.php{'\n'}wp eval-file export.php &gt; fleet.json{'\n'}sitefleet import
          fleet.json
        </pre>
      </details>
    </Card>
  );
}

function Monitor({ next }: { next: () => void }) {
  const on = () =>
    trying(async () => {
      const said = await watchAll();
      next();
      return said;
    });
  return (
    <Card title={t.start.monitor}>
      <p>{t.start.monitorText}</p>
      <div class="row">
        <Button kind="main" icon={Activity} onClick={on}>
          {t.start.watch}
        </Button>
        <LinkButton kind="quiet" icon={BellRing} href="/settings">
          {t.nav.settings}
        </LinkButton>
      </div>
    </Card>
  );
}
