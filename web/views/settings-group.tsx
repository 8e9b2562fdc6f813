/** The settings of a group as one form: what was changed is sent, an emptied field restores its default. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { Check, SelectField, TextField } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { Loaded } from '../parts/states.js';
import { showToast } from '../parts/toast.js';
import { t } from '../texts/texts.js';
import { Facts } from './site-overview.js';

/** A list is a choice; `parts` are switches of their own. */
type Kind = 'switch' | 'number' | 'text' | 'time' | 'parts' | readonly string[];
type Name = keyof typeof t.settings.field;
export type SettingField = readonly [name: Name, kind: Kind];
type Group = 'general' | 'advanced' | 'monitoring' | 'cost-tracker';
type Values = Readonly<Record<string, unknown>>;

function read(group: Group, signal: AbortSignal): Promise<Values> {
  switch (group) {
    case 'general':
      return answer(api.GET('/settings/general', { signal })).then(({ data }) => data);
    case 'advanced':
      return answer(api.GET('/settings/advanced', { signal })).then(({ data }) => data);
    case 'monitoring':
      return answer(api.GET('/settings/monitoring', { signal })).then(({ data }) => data);
    case 'cost-tracker':
      return answer(api.GET('/settings/cost-tracker', { signal })).then(({ data }) => data);
  }
}

/** The fields are those of the group, as their kinds say. */
function write(group: Group, changed: Values): Promise<{ message?: string }> {
  const body = { body: changed as object };
  switch (group) {
    case 'general':
      return answer(api.PATCH('/settings/general/edit', body));
    case 'advanced':
      return answer(api.PATCH('/settings/advanced/edit', body));
    case 'monitoring':
      return answer(api.PATCH('/settings/monitoring/edit', body));
    case 'cost-tracker':
      return answer(api.PATCH('/settings/cost-tracker/edit', body));
  }
}

export function SettingsGroup({ group, fields }: { group: Group; fields: readonly SettingField[] }) {
  const may = useMayWrite();
  const [changed, setChanged] = useState<Values>({});
  const settings = useLoad(`settings:${group}`, (signal) => read(group, signal));
  const save = async () => {
    if (Object.keys(changed).length > 0) {
      const { message } = await write(group, changed);
      if (message !== undefined) showToast(message);
    }
    setChanged({});
    refresh('settings:', 'monitors:', 'now:', 'site:', 'policies:', 'policy:', 'approvals:');
  };
  return (
    <Loaded of={settings}>
      {(data) =>
        may ? (
          <Form onSubmit={save}>
            {fields.map(([name, kind]) => (
              <div key={name} id={name}>
                <Field
                  name={name}
                  kind={kind}
                  value={name in changed ? changed[name] : data[name]}
                  set={(value) => setChanged({ ...changed, [name]: value })}
                />
              </div>
            ))}
            <FormEnd send={t.save} />
          </Form>
        ) : (
          <Facts rows={fields.map(([name, kind]) => [t.settings.field[name][0], wordOf(name, kind, data[name])])} />
        )
      }
    </Loaded>
  );
}

const plain = (value: unknown) => (Array.isArray(value) ? value.join(', ') : String(value ?? ''));

function choiceWord(name: Name, value: string): string {
  return (t.settings.choice as Record<string, Record<string, string>>)[name]?.[value] ?? value.toUpperCase();
}

/** A value as text, for those who may not change it. */
function wordOf(name: Name, kind: Kind, value: unknown): string {
  if (kind === 'switch') return value === 1 ? t.settings.on : t.settings.off;
  if (kind === 'parts')
    return Object.entries(value as Record<string, number>)
      .filter(([, on]) => on === 1)
      .map(([part]) => t.settings.part(part))
      .join(', ');
  return typeof kind === 'string' ? plain(value) : choiceWord(name, String(value));
}

interface FieldProps {
  name: Name;
  kind: Kind;
  value: unknown;
  set: (value: unknown) => void;
}

function Field({ name, kind, value, set }: FieldProps) {
  const [label, hint] = t.settings.field[name] as readonly [label: string, hint?: string];
  const noted = hint === undefined ? {} : { hint };
  if (kind === 'switch')
    return (
      <>
        <Check label={label} checked={value === 1} onChange={(on) => set(on ? 1 : 0)} />
        {hint !== undefined && <p class="hint">{hint}</p>}
      </>
    );
  if (kind === 'parts') {
    const parts = value as Record<string, number>;
    return (
      <fieldset class="choices">
        <legend>{label}</legend>
        {Object.keys(parts).map((part) => (
          <Check
            key={part}
            label={t.settings.part(part)}
            checked={parts[part] === 1}
            onChange={(on) => set({ ...parts, [part]: on ? 1 : 0 })}
          />
        ))}
      </fieldset>
    );
  }
  if (typeof kind !== 'string')
    return (
      <SelectField
        label={label}
        name={name}
        {...noted}
        value={String(value)}
        onChange={(text) => set(typeof value === 'number' ? Number(text) : text)}
        options={kind.map((one) => [one, choiceWord(name, one)] as const)}
      />
    );
  return (
    <TextField
      label={label}
      name={name}
      {...noted}
      type={kind}
      value={plain(value)}
      onInput={(text) => set(text === '' ? null : kind === 'number' ? Number(text) : text)}
    />
  );
}
