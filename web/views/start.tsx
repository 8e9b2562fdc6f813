/** First start: adding sites, choosing recipients, monitoring, and what has to be approved. Each step can be skipped, and done later. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useMayApprove } from '../api/session.js';
import { ApprovalRules } from '../parts/approval-rules.js';
import { Button, LinkButton } from '../parts/button.js';
import { Activity, ArrowRight, BellRing } from '../parts/icons.js';
import { Card, Page } from '../parts/page.js';
import { trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { AddSiteForm } from './add-site.js';
import { RecipientForm } from './recipient-form.js';
import { watchAll } from './watch.js';

const STEPS = ['sites', 'alerts', 'monitor'] as const;
const APPROVER_STEPS = [...STEPS, 'approvals'] as const;

export function Start() {
  const { route } = useLocation();
  const steps = useMayApprove() ? APPROVER_STEPS : STEPS;
  const [step, setStep] = useState(0);
  const [done, setDone] = useState<ReadonlySet<number>>(new Set());
  const skip = () => (step + 1 < steps.length ? setStep(step + 1) : route('/'));
  const next = () => {
    setDone(new Set([...done, step]));
    skip();
  };
  const current = steps[step];
  return (
    <Page title={t.start.title} about={t.start.about}>
      <ol class="progression" aria-label={t.start.steps}>
        {steps.map((one, index) => (
          <li key={one} aria-current={index === step ? 'step' : undefined} class={done.has(index) ? 'done' : ''}>
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
      {current === 'approvals' && (
        <Card title={t.start.approvals}>
          <p>{t.start.approvalsText}</p>
          <ApprovalRules />
          <Button kind="main" onClick={next}>
            {t.start.done}
          </Button>
        </Card>
      )}
      <div class="row end">
        {step > 0 && (
          <Button kind="quiet" onClick={() => setStep(step - 1)}>
            {t.start.back}
          </Button>
        )}
        <Button icon={ArrowRight} onClick={skip}>
          {t.start.skip}
        </Button>
      </div>
    </Page>
  );
}

function Bring({ next }: { next: () => void }) {
  const [count, setCount] = useState(0);
  return (
    <Card title={t.start.bring}>
      <p>{t.start.bringText}</p>
      <AddSiteForm added={setCount}>
        {count > 0 && (
          <Button kind="main" onClick={next}>
            {t.start.goOn(count)}
          </Button>
        )}
      </AddSiteForm>
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
