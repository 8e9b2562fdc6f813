/** A request that is put to a person in the assistant shows the plan that the answer decides, or is not put to them there. */

import { beforeAll, describe, expect, it } from 'vitest';
import { localActor } from '../../src/cli/local-actor.js';
import type { GroupedOperation } from '../../src/operation/operation.js';
import { ServiceError } from '../../src/runtime/errors.js';
import { AskedApprovals } from '../../src/surfaces/mcp/approval-questions.js';
import { operations } from '../../tools/index.js';
import { everyOperation } from '../operations/cases.js';
import { type Answerer, connect, type Driver, textOf } from '../support/mcp-clients.js';
import { HandClock } from '../support/surfaces.js';
import { type Ways, ways } from './client.js';

const SHELL = { actor: localActor('cli') };
const DECIDES = 'Your answer decides this request for approval';

let app: Ways;
let driver: Driver;
const asked: string[] = [];

beforeAll(async () => {
  const config = { toolsets: null, batch_threshold: 3, job_delay_ms: 0 };
  app = await ways({ sites: 7, connected: 7, realClock: true, fleet: { plugins: 8 }, config });
  const answer: Answerer = async ({ message }) => {
    asked.push(message);
    return { action: 'cancel' };
  };
  driver = await connect(['2025-11-25', 'http'], { ...app.target, answer });
});

const newest = async () => (await app.app.db.all('SELECT * FROM approval ORDER BY rowid DESC LIMIT 1'))[0];

/** Calls as a program; the question, if a person was asked for the approval, and the request that was made. */
async function ask(name: string, input: object, preset: 'careful' | 'strict' = 'strict') {
  await app.rules({ preset, in_assistants: true });
  const before = (await newest())?.id;
  asked.length = 0;
  const said = textOf(await driver.call(`svc-${name}-v1`, input as Record<string, unknown>));
  const request = await newest();
  await app.rules({ preset: 'open' });
  return {
    question: asked.find((message) => message.includes(DECIDES)),
    said,
    ...(request?.id === before ? {} : { plan: JSON.parse(String(request?.plan)) }),
  };
}

/** Texts of a plan that name something to a person: sites, clients, items, versions. */
function named(plan: unknown): string[] {
  if (typeof plan === 'string') return plan === '' ? [] : [plan];
  if (typeof plan !== 'object' || plan === null) return [];
  return Object.entries(plan).flatMap(([name, value]) => (MARKS.includes(name) ? [] : named(value)));
}
const MARKS = ['digest', 'change_id', 'action_ids'];

/** As questions spell it: quoted if need be, and addresses without what is the same in all. */
const isNamedIn = (question: string, text: string) =>
  [text, JSON.stringify(text).slice(1, -1), text.replace(/^https?:\/\/|\/$/g, '')].some((one) =>
    question.includes(one.replace(/\s+/g, ' ')),
  );

/** They need no approval, or are not for programs at all. */
const NEVER_ASKED = [
  ...['back-up-site', 'check-monitor', 'check-site', 'check-sites', 'decide-guidance', 'drill-backup', 'sync-sites'],
  ...['verify-backup', 'withdraw-approval'],
];

const nameOf = ({ id }: { id: string }) => id.slice('svc/'.length, -'-v1'.length);
const changing = new Map(operations.filter(({ change }) => change !== null).map((one) => [nameOf(one), one]));

it('of every operation: what its plan names reaches the question', async () => {
  const seen = new Set<string>();
  const check = async (name: string, input: object) => {
    // The strict rules never let a program remove a site.
    const { question, plan } = await ask(name, input, name === 'delete-site' ? 'careful' : 'strict');
    if (question === undefined) return;
    seen.add(name);
    const unnamed = named(plan).filter((text) => !isNamedIn(question, text));
    expect([name, question, unnamed]).toEqual([name, question, []]);
    // A site is named by more than its number.
    const { site_id_or_domain: site } = input as { site_id_or_domain?: number };
    if (site !== undefined) expect([name, question]).toEqual([name, expect.stringContaining(`/site-000${site - 1}`)]);
  };
  await everyOperation(app.app, 7, async ({ name, input }) => {
    const operation = changing.get(name);
    const { dry_run: previews, ...call } = input as { dry_run?: boolean };
    const confirm = previews === true && operation?.effect === 'destroy';
    if (operation !== undefined) await check(name, { ...call, ...(confirm && { confirm }) });
    const answer = await app.app.call(name, input, SHELL);
    // Only to pause it needs no approval.
    if (name === 'control-rollout') await check(name, { ...call, action: 'resume' });
    return answer;
  });
  expect([...changing.keys()].filter((name) => !seen.has(name)).sort()).toEqual(NEVER_ASKED);
});

it('of two records of one name the question tells which', async () => {
  const cost = { name: 'Hosting', price: '12.50', renewal_type: 'yearly' };
  const [own, real] = [await app.app.call('add-cost', cost, SHELL), await app.app.call('add-cost', cost, SHELL)];
  const [first, second] = [own, real].map(({ id }) => id);
  for (const [id, other] of [
    [first, second],
    [second, first],
  ]) {
    const { question } = await ask('delete-cost', { cost_id: id, confirm: true });
    expect(question).toMatch(new RegExp(`the cost Hosting.*\\bid: ${id}\\.`));
    expect(question).not.toMatch(new RegExp(`\\b${other}\\b`));
  }
});

describe('an undo is asked', () => {
  /** A moment after all that was done before. */
  const since = async () => {
    await new Promise((go) => setTimeout(go, 20));
    return new Date().toISOString();
  };

  it('with all that it would restore, and how much of it others had changed', async () => {
    const from = await since();
    for (const site of [2, 3, 4, 5, 6])
      await app.app.call('update-site', { site_id_or_domain: site, notes: `Keep an eye on ${site}` }, SHELL);
    const { question } = await ask('undo-change', { since: from, confirm: true });
    expect(question).toMatch(/^Restore what 5 changes replaced\? /);
    expect(question).toContain(' Others made 5 of them. ');
    for (const site of [2, 3, 4, 5, 6]) {
      expect(question).toContain(`/site-000${site - 1}/`);
      expect(question).toContain(`Keep an eye on ${site}`);
    }
  });

  it('on the page only, if it would restore more than a question shows', async () => {
    const from = await since();
    for (let at = 0; at < 40; at++) await app.app.call('add-tag', { name: `label ${at}` }, SHELL);
    const { question, said, plan } = await ask('undo-change', { since: from, confirm: true });
    expect([question, plan.total_undo, plan.total_by_others]).toEqual([undefined, 40, 40]);
    expect(said).toMatch(/^svc_approval_required: /);
  });
});

describe('nothing is asked', () => {
  it('about more sites than are named', async () => {
    const many = await ways({ sites: 24, connected: 24 });
    await many.rules({ preset: 'strict', in_assistants: true });
    const questions: string[] = [];
    const answer: Answerer = async ({ message }) => {
      questions.push(message);
      return { action: 'cancel' };
    };
    const program = await connect(['2025-11-25', 'http'], { ...many.target, answer });
    const suspend = async (sites: number) => {
      const site_ids_or_domains = Array.from({ length: sites }, (_, at) => at + 1);
      return textOf(await program.call('svc-suspend-sites-v1', { site_ids_or_domains }));
    };
    expect(await suspend(21)).toMatch(/^svc_approval_required: /);
    expect(questions).toEqual([]);
    expect(await suspend(19)).toMatch(/^svc_approval_required: /);
    expect(questions).toEqual([expect.stringContaining('/site-0018/')]);
  });

  const operation = { ...changing.get('delete-tag'), group: 'clients' } as GroupedOperation;
  const plan = { dry_run: true, tag_id: 1, tag_name: 'Shop', sites_affected: 2 };

  async function questionFor(shown: unknown, named: unknown = []): Promise<string | undefined> {
    let question: string | undefined;
    const data = { approval_id: 'apr_1', sites: 0, plan: shown, in_assistant: { title: 'Delete', input: '{}', named } };
    await new AskedApprovals(new HandClock(0), 1000)
      .run({
        ...{ operation, args: { tag_id: 1, confirm: true }, actor: app.app.ctx(SHELL).actor, client: 'test' },
        elicitation: {
          kind: 'now',
          ask: async ({ message }) => {
            question = message;
            return { outcome: 'cancel' };
          },
        },
        run: async () => Promise.reject(new ServiceError('svc_approval_required', 'It waits.', { data })),
      })
      .catch(() => undefined);
    return question;
  }

  it('about a plan that does not fit the question of the operation itself: it has no other words', async () => {
    expect(await questionFor(plan)).toMatch(/^Delete the tag Shop\? 2 sites lose it\. tag id: 1\. Your answer/);
    const { tag_name: _, ...other } = plan;
    expect(await questionFor(other)).toBeUndefined();
    expect(await questionFor({ characters: 70_000, begins: '{"tag_id":1' })).toBeUndefined();
  });

  it('about a plan, or sites, that are not shown whole', async () => {
    expect(await questionFor(plan, null)).toBeUndefined();
  });

  it('but what the question leaves out is added, and nothing passes for it that only looks alike', async () => {
    const site = { id: 1, name: 'Delete', url: 'https://shop.example/' };
    expect(await questionFor({ ...plan, tag_name: 'shop.example.org' }, [site])).toContain(
      'named sites: id 1 · Delete · https://shop.example/. tag id: 1. Your answer',
    );
    expect(await questionFor({ ...plan, tag_name: 'shop.example' }, [{ ...site, name: '' }])).not.toContain('named');
  });
});
