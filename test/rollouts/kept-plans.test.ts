/** Plans that are kept: those of one login take no place of another's, and what a person is asked about stays. */

import { beforeAll, expect, it } from 'vitest';
import { type Ask, type Ways, ways } from '../approvals/client.js';
import { turnsOf } from '../support/turns.js';

/** More than are kept of one login. */
const MANY = 55;

interface Plan {
  plan_id: string;
  digest: string;
}
type Planner = (soak_minutes: number) => Promise<Plan>;

let app: Ways;
let person: Ask;
let program: Ask;

beforeAll(async () => {
  app = await ways({ sites: 2, connected: 2 });
  person = await app.page(await app.user(['read', 'write', 'approve']));
  program = await app.key();
});

const over =
  (by: Ask): Planner =>
  async (soak_minutes) => {
    const { body } = await by('POST /updates/plans', { waves: { soak_minutes } });
    expect(body.plan.updates).toBeGreaterThan(0);
    return { plan_id: body.plan.plan_id, digest: body.plan.digest };
  };

/** Plans many others. */
async function many(plan: Planner): Promise<Plan | undefined> {
  let last: Plan | undefined;
  for (let i = 0; i < MANY; i++) {
    app.app.clock.move(10);
    last = await plan(1_000 + i);
  }
  return last;
}

/** Why it cannot be started; undefined if it can. */
const why = async (plan: object | undefined) => (await person('POST /rollouts', { ...plan, dry_run: true })).body.code;

it('a login that may only read pushes out no plan but its own, and its newest can be started by others', async () => {
  const name = await app.user(['read']);
  const reading: Planner = async (soak_minutes) => {
    const { status, body } = await app.run(name, 'plan-updates', { waves: { soak_minutes } });
    expect(status).toBe(200);
    return { plan_id: body.plan_id, digest: body.digest };
  };
  const own = await reading(11);
  const others = [await over(person)(11), await over(program)(12)];
  // The same plan, but not the same one.
  expect(others[0]?.digest).toBe(own.digest);
  const last = await many(reading);
  expect(await Promise.all([own, ...others, last].map(why))).toEqual([
    'svc_plan_not_found',
    undefined,
    undefined,
    undefined,
  ]);
  const rows = await app.app.db.all('SELECT count(*) AS n FROM rollout_plan GROUP BY maker ORDER BY n DESC');
  expect(rows).toEqual([{ n: 20 }, { n: 1 }, { n: 1 }]);
});

it('what a person is asked to start, or has approved, is still there', async () => {
  await app.rules({ preset: 'strict' });
  const plan = over(program);
  const [waits, approved, refused] = [await plan(14), await plan(15), await plan(16)];
  const ask = async (one: Plan) => (await program('POST /rollouts', one)).body.data.approval_id as string;
  const waiting = await ask(waits);
  await app.shell.approve(await ask(approved));
  await app.shell.refuse(await ask(refused));
  const discarded = [waits, approved, refused].map((one) => program(`DELETE /updates/plans/${one.plan_id}`));
  expect((await Promise.all(discarded)).map(({ status }) => status)).toEqual([409, 409, 200]);
  await many(plan);
  expect(await Promise.all([waits, approved, refused].map(why))).toEqual([undefined, undefined, 'svc_plan_not_found']);
  expect((await program('POST /rollouts', approved)).status).toBe(200);
  await app.shell.approve(waiting);
  expect((await program('POST /rollouts', waits)).status).toBe(200);
});

it('those who plan at the same time let others in between', async () => {
  const plan = over(person);
  // What is stored already is not stored again.
  await plan(17);
  const one = await turnsOf(() => plan(17));
  const five = await turnsOf(() => Promise.all([17, 17, 17, 17, 17].map(plan)));
  expect(five).toBeGreaterThanOrEqual(one + 4 * 3);
});
