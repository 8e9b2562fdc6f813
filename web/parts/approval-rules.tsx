/** Which changes wait for approval: one switch among three presets, and whether assistants may ask for the answer. */

import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayApprove } from '../api/session.js';
import { t } from '../texts/texts.js';
import { Check, SelectField } from './field.js';
import { Saved } from './saved.js';
import { Loaded } from './states.js';
import { trying } from './toast.js';

const PRESETS = ['open', 'careful', 'strict'] as const;
type Preset = (typeof PRESETS)[number];

/** @param chosen is called after a choice was stored */
export function ApprovalRules({ chosen }: { chosen?: () => void }) {
  const may = useMayApprove();
  const rules = useLoad('approvals:rules', (signal) =>
    answer(api.GET('/approvals/rules', { signal })).then(({ data }) => data),
  );
  const set = async (body: { preset: Preset } | { in_assistants: boolean }) => {
    const saved = await trying(async () => (await answer(api.PUT('/approvals/rules', { body }))).message);
    refresh('approvals:');
    chosen?.();
    return saved;
  };
  return (
    <Loaded of={rules}>
      {({ preset, rules: own, in_assistants }) => {
        const words = preset === null ? t.approvals.ownText(waiting(own)) : t.approvals.presetText[preset];
        return may ? (
          <>
            <Saved value={preset ?? ''} save={(next) => set({ preset: next as Preset })}>
              {(shown, choose) => (
                <SelectField
                  label={t.approvals.rules}
                  hint={words}
                  value={shown}
                  onChange={choose}
                  options={[
                    ...(preset === null ? [['', t.approvals.own, true] as const] : []),
                    ...PRESETS.map((one) => [one, t.approvals.preset[one]] as const),
                  ]}
                />
              )}
            </Saved>
            {(preset !== 'open' || in_assistants) && (
              <Saved value={in_assistants} save={(on) => set({ in_assistants: on })}>
                {(on, choose) => <Check label={t.approvals.inAssistants} checked={on} onChange={choose} />}
              </Saved>
            )}
          </>
        ) : (
          <p>{words}</p>
        );
      }}
    </Loaded>
  );
}

/** The kinds of changes of which some wait, or are never made. */
function waiting(rules: Readonly<Record<string, Readonly<Record<string, string>>>>): string[] {
  return Object.entries(rules)
    .filter(([, rule]) => Object.values(rule).some((mode) => mode !== 'auto'))
    .map(([kind]) => t.approvals.change(kind, 0));
}
