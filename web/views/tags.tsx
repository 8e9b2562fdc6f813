/** Tags: what they are called, their colours, and how many sites have them. */

import { useState } from 'preact/hooks';
import { answer, api } from '../api/client.js';
import { refresh, useLoad } from '../api/load.js';
import { useMayWrite } from '../api/session.js';
import { AddButton, Button, DeleteButton } from '../parts/button.js';
import { Confirm, Dialog } from '../parts/dialog.js';
import { Check, TextField, useText } from '../parts/field.js';
import { Form, FormEnd } from '../parts/form.js';
import { Pencil } from '../parts/icons.js';
import { Card } from '../parts/page.js';
import { Pager } from '../parts/pager.js';
import { Loaded } from '../parts/states.js';
import { showToast, trying } from '../parts/toast.js';
import { t } from '../texts/texts.js';

const PER_PAGE = 50;

interface Tag {
  id: number;
  name: string;
  /** null = none. */
  color: string | null;
  sites_count: number;
}

export function TagsCard() {
  const write = useMayWrite();
  const [page, setPage] = useState(1);
  const [editing, setEditing] = useState<Tag | 'new' | null>(null);
  const [removing, setRemoving] = useState<Tag | null>(null);
  const tags = useLoad(
    `owners:tags:${page}`,
    (signal) => answer(api.GET('/tags', { params: { query: { page, per_page: PER_PAGE } }, signal })),
    { keepShown: true },
  );
  const remove = (tag_id: number) =>
    trying(async () => {
      const { message } = await answer(api.DELETE('/tags/{tag_id}/remove', { params: { path: { tag_id } } }));
      refresh('owners:', 'sites:', 'site:');
      return message;
    });
  return (
    <Card
      id="tags"
      title={t.settings.card.tags}
      actions={write && <AddButton text={t.tags.add} onClick={() => setEditing('new')} />}
    >
      <Loaded of={tags}>
        {({ data, total }) => (
          <>
            {total === 0 && <p class="muted">{t.sites.noTags}</p>}
            <ul class="log taglist">
              {data.map((tag) => (
                <li key={tag.id}>
                  <span>
                    <ColorDot color={tag.color} /> <a href={`/sites?tag_ids=${tag.id}`}>{tag.name}</a>{' '}
                    <span class="muted">{t.tags.sites(tag.sites_count)}</span>
                  </span>
                  {write && (
                    <span class="under">
                      <Button small icon={Pencil} label={`${t.edit}: ${tag.name}`} onClick={() => setEditing(tag)}>
                        {t.edit}
                      </Button>
                      <DeleteButton name={tag.name} onClick={() => setRemoving(tag)} />
                    </span>
                  )}
                </li>
              ))}
            </ul>
            <Pager page={page} perPage={PER_PAGE} total={total} go={setPage} />
          </>
        )}
      </Loaded>
      {editing !== null && <TagDialog tag={editing === 'new' ? null : editing} close={() => setEditing(null)} />}
      {removing !== null && (
        <Confirm
          title={t.tags.removeTitle(removing.name)}
          text={t.tags.removeText(removing.sites_count)}
          onConfirm={() => remove(removing.id)}
          onClose={() => setRemoving(null)}
        />
      )}
    </Card>
  );
}

/** Only repeats what the name says. */
function ColorDot({ color }: { color: string | null }) {
  return color === null ? null : <span class="dot" aria-hidden="true" style={{ background: color }} />;
}

const FIRST_COLOR = '#0f766e';

function TagDialog({ tag, close }: { tag: Tag | null; close: () => void }) {
  const name = useText(tag?.name ?? '');
  const [color, setColor] = useState(tag?.color ?? null);
  const save = async () => {
    const body = { name: name.value.trim(), color };
    const { message } = await (tag === null
      ? answer(api.POST('/tags/add', { body }))
      : answer(api.PATCH('/tags/{tag_id}/edit', { params: { path: { tag_id: tag.id } }, body })));
    showToast(message);
    refresh('owners:', 'sites:', 'site:');
    close();
  };
  return (
    <Dialog title={tag === null ? t.tags.add : t.tags.editTitle(tag.name)} onClose={close}>
      <Form onSubmit={save}>
        <TextField label={t.tags.name} name="name" {...name} required />
        <Check
          label={t.tags.colored}
          checked={color !== null}
          onChange={(on) => setColor(on ? (tag?.color ?? FIRST_COLOR) : null)}
        />
        {color !== null && (
          <label class="field">
            <span>{t.tags.color}</span>
            <input type="color" value={color} onInput={(event) => setColor(event.currentTarget.value)} />
          </label>
        )}
        <FormEnd send={t.save} cancel={close} />
      </Form>
    </Dialog>
  );
}
